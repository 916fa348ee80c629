/* SPDX-License-Identifier: Apache-2.0 */
/* Edits by path: of a tree, and of the text of documents. */
#ifndef MPIJOB__DOC_EDIT_H
#define MPIJOB__DOC_EDIT_H

#include "doc/layout.h"
#include "doc/node.h"

enum mpijob__doc_change {
	MPIJOB__DOC_CHANGE_NONE, /* the tree is so already */
	MPIJOB__DOC_CHANGE_REPLACED,
	MPIJOB__DOC_CHANGE_ADDED, /* an entry at the end of a list or map */
	MPIJOB__DOC_CHANGE_REMOVED
};

struct mpijob__doc_edit {
	const char *path;         /* not NULL */
	const mpijob_node *value; /* from any document; NULL: remove */
	const char *source;       /* for findings; may be NULL */
	mpijob_diag *diag;        /* may be NULL */
	/* Results: what was changed, and the position of the entry in each list and map from the
	 * root. The caller adds the positions of the node at which the path begins. */
	enum mpijob__doc_change change;
	struct mpijob__doc_stack steps; /* uint32_t */
};

/*
 * Edit the tree below `start`, a node of `doc`. Returns 0 or, with a finding, MPIJOB_ERR_USAGE (not
 * a path), MPIJOB_ERR_NOT_FOUND (the path names no single value, and no new one); or
 * MPIJOB_ERR_NOMEM. After a failure discard the document.
 */
int mpijob__doc_edit(struct mpijob__doc_edit *edit, mpijob_doc *doc, mpijob_node *start);

/* A text that is edited: its documents, and where their values are. */
struct mpijob__doc_editor {
	struct mpijob_parse_options options; /* borrows `source` */
	struct mpijob_text text;
	mpijob_docs *docs;
	struct mpijob__doc_layout layout;
};

/* Read a text. Returns as mpijob_docs_parse(); MPIJOB_ERR_UNSUPPORTED for UTF-16. Close the editor
 * in either case. */
int mpijob__doc_editor_open(struct mpijob__doc_editor *editor, const char *text, size_t len,
    const struct mpijob_parse_options *options, mpijob_diag *diag);
/*
 * Edit a document, by its index, and the text. Returns as mpijob__doc_edit(), or
 * MPIJOB_ERR_UNSUPPORTED with a finding if the text cannot be changed in one place so that the
 * documents are as they should be. Nothing is changed after a failure.
 */
int mpijob__doc_editor_apply(struct mpijob__doc_editor *editor, struct mpijob__doc_edit *edit,
    size_t index);
void mpijob__doc_editor_close(struct mpijob__doc_editor *editor);

#endif
