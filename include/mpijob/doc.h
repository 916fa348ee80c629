/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file doc.h
 * Documents: any Kubernetes object as an ordered tree that loses nothing.
 *
 * A mpijob_doc holds one YAML or JSON document. It keeps the order of keys, the difference between
 * absent, null and zero, unknown fields, and the line and column of every key and value.
 * Transports, stores and plugins use it for Kubernetes objects of any kind.
 *
 * A mpijob_node is one value inside a document. Nodes belong to their document and are valid until
 * the document is freed, also after they were replaced or removed (the memory of a document only
 * grows; a clone is smaller). YAML text becomes numbers and strings exactly as kubectl sends them:
 * YAML 1.1 as sigs.k8s.io/yaml reads it, with one exception: a duplicate key is an error. Numbers
 * in YAML get the spelling that kubectl sends (1e3 becomes 1000); numbers in JSON keep their
 * spelling.
 *
 * Building needs one check at the end: every building call accepts NULL nodes, does nothing and
 * returns NULL then, and the document remembers the first failure. So build a whole object and call
 * mpijob_doc_error() once.
 *
 * A *path* is Kubernetes' field path: `spec.template.spec.containers[0].name`, and
 * `metadata.labels[app.kubernetes.io/name]` for a key with dots. Brackets contain the index of a
 * list or the key of a map. Such a key ends at the first `]` before a dot, a bracket or the end of
 * the path; so a path cannot express a key that contains `].` or `][`.
 *
 * In the brackets after a list, `[key=value]` selects the first item that is a map with this string
 * or number: `containers[name=train].env[name=NCCL_DEBUG].value`. mpijob_edit_job() also knows
 * `[-]`, a new item at the end.
 */
#ifndef MPIJOB_DOC_H
#define MPIJOB_DOC_H

#include <mpijob/base.h>
#include <mpijob/diag.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mpijob_doc mpijob_doc;   /**< One document. */
typedef struct mpijob_docs mpijob_docs; /**< The documents of one file. */
typedef struct mpijob_node mpijob_node; /**< One value inside a document. */

/** For reading, as kubectl: text that begins with `{` or `[` is parsed as JSON first; all other
 * text is YAML. */
#define MPIJOB_FORMAT_AUTO 0
#define MPIJOB_FORMAT_YAML 1 /**< YAML. */
#define MPIJOB_FORMAT_JSON 2 /**< JSON, indented by two spaces when written. */
/** JSON on one line. For reading, the same as JSON. */
#define MPIJOB_FORMAT_JSON_COMPACT 3

/** How to read text, with limits against hostile input. A limit of 0 means its default. */
struct mpijob_parse_options {
	size_t size;        /**< `sizeof` this struct. */
	const char *source; /**< Name for findings ("job.yaml"); may be NULL; copied. */
	int32_t format;     /**< `MPIJOB_FORMAT_*`. */
	int32_t max_depth;  /**< Nesting of lists and maps; default 500, at most 10,000. */
	/** Size of the text; default 3 MiB, as an API server; at most 1 GiB. */
	size_t max_bytes;
	/** Values in the tree, including expanded aliases; default 1,000,000. */
	size_t max_values;
	/** Aliases (`*name`) in the text, and also anchors; default 10,000. */
	size_t max_aliases;
	size_t max_expanded; /**< Bytes of scalars that aliases copy; default 8 MiB. */
	size_t max_findings; /**< Number of findings after which reading stops; default 100. */
	/** 1: nodes get no line and column, for text that a program wrote. */
	int32_t no_places;
};

/** Sets `size`; everything else is not given. */
#define MPIJOB_PARSE_OPTIONS_INIT { sizeof(struct mpijob_parse_options), NULL, 0, 0, 0, 0, 0, \
	0, 0, 0 }

/** @name Read text
 * @{ */

/**
 * Read text that contains exactly one document.
 *
 * @param text     the bytes; may be NULL when `len` is 0; UTF-8, UTF-16 with a byte order mark for
 *                 YAML.
 * @param len      how many bytes.
 * @param options  NULL for the defaults.
 * @param out      not NULL; receives the document, yours.
 * @param diag     findings, or NULL.
 * @return 0; `MPIJOB_ERR_SYNTAX` (also: a limit, a duplicate key, no document, several documents),
 *         `MPIJOB_ERR_NOMEM`, `MPIJOB_ERR_USAGE`, `MPIJOB_ERR_UNSUPPORTED` (options).
 * @since 0.1
 */
MPIJOB_API int mpijob_doc_parse(const char *text, size_t len,
    const struct mpijob_parse_options *options, mpijob_doc **out, mpijob_diag *diag);

/**
 * Read text that contains any number of documents; empty documents are skipped.
 *
 * The text may also be a sequence of JSON values.
 *
 * @param text     the bytes; may be NULL when `len` is 0.
 * @param len      how many bytes.
 * @param options  NULL for the defaults.
 * @param out      not NULL; receives the documents, yours.
 * @param diag     findings, or NULL.
 * @return as mpijob_doc_parse(), but no document, or several, is not an error.
 * @since 0.1
 */
MPIJOB_API int mpijob_docs_parse(const char *text, size_t len,
    const struct mpijob_parse_options *options, mpijob_docs **out, mpijob_diag *diag);

/**
 * Count the documents.
 *
 * @param docs  not NULL.
 * @return how many mpijob_docs_at() can give.
 * @since 0.1
 */
MPIJOB_API size_t mpijob_docs_count(const mpijob_docs *docs);

/**
 * Get one document.
 *
 * @param docs   not NULL.
 * @param index  from 0.
 * @return borrowed from `docs`; NULL when there is no such document.
 * @since 0.1
 */
MPIJOB_API const mpijob_doc *mpijob_docs_at(const mpijob_docs *docs, size_t index);

/**
 * Free the documents of a file.
 *
 * @param docs  yours, or NULL.
 * @since 0.1
 */
MPIJOB_API void mpijob_docs_free(mpijob_docs *docs);

/** @} */
/** @name Make, copy, free
 * @{ */

/**
 * Make a document whose root is an empty map.
 *
 * @return the document, yours; NULL when memory ran out.
 * @since 0.1
 */
MPIJOB_API mpijob_doc *mpijob_doc_new(void);

/**
 * Copy a value into a new document, with its lines and columns.
 *
 * @param node  from any document; not NULL.
 * @return the document, yours; NULL when memory ran out.
 * @since 0.1
 */
MPIJOB_API mpijob_doc *mpijob_doc_from_node(const mpijob_node *node);

/**
 * Copy a document.
 *
 * @param doc  not NULL.
 * @return the copy, yours; NULL when memory ran out.
 * @since 0.1
 */
MPIJOB_API mpijob_doc *mpijob_doc_clone(const mpijob_doc *doc);

/**
 * Free a document with all its nodes, at any depth.
 *
 * @param doc  yours, or NULL.
 * @since 0.1
 */
MPIJOB_API void mpijob_doc_free(mpijob_doc *doc);

/** @} */
/** @name Read values
 * @{ */

#define MPIJOB_NODE_NONE   0 /**< No value: the node is NULL. */
#define MPIJOB_NODE_NULL   1 /**< null */
#define MPIJOB_NODE_BOOL   2 /**< true or false */
#define MPIJOB_NODE_NUMBER 3 /**< A number; see mpijob_node_text() for its spelling. */
#define MPIJOB_NODE_STRING 4 /**< Text. */
#define MPIJOB_NODE_LIST   5 /**< A list. */
#define MPIJOB_NODE_MAP    6 /**< A map from strings to values, in order. */

/**
 * Get the root value.
 *
 * @param doc  not NULL.
 * @return borrowed from the document; never NULL.
 * @since 0.1
 */
MPIJOB_API const mpijob_node *mpijob_doc_root(const mpijob_doc *doc);

/**
 * Get the name of the text that the document was read from: `source` of mpijob_parse_options.
 *
 * @param doc  not NULL.
 * @return borrowed from the document; NULL when the document was built, or no name was given.
 * @since 0.1
 */
MPIJOB_API const char *mpijob_doc_source(const mpijob_doc *doc);

/**
 * Describe a value for a message: `the string "soon"`, `the number 3`, `true`, `a list`, `null`.
 *
 * Long strings and numbers are cut. The text is not escaped: see mpijob_escaped_write().
 *
 * @param node   may be NULL: "null".
 * @param write  the sink; not NULL.
 * @param user   passed to the sink.
 * @return 0; `MPIJOB_ERR_USAGE`; what the sink returned.
 * @since 0.1
 */
MPIJOB_API int mpijob_node_describe(const mpijob_node *node, mpijob_write_fn write, void *user);

/**
 * Find a value by its path.
 *
 * @param node  where to start; may be NULL.
 * @param path  a field path; "" is the node itself; not NULL.
 * @return borrowed; NULL when there is nothing at that path.
 * @since 0.1
 */
MPIJOB_API const mpijob_node *mpijob_node_find(const mpijob_node *node, const char *path);

/**
 * Return the kind of a value.
 *
 * @param node  may be NULL: `MPIJOB_NODE_NONE`.
 * @return `MPIJOB_NODE_*`.
 * @since 0.1
 */
MPIJOB_API int32_t mpijob_node_kind(const mpijob_node *node);

/**
 * Count the entries of a list or map.
 *
 * @param node  may be NULL or of another kind: 0.
 * @return how many entries.
 * @since 0.1
 */
MPIJOB_API size_t mpijob_node_count(const mpijob_node *node);

/**
 * Get an entry of a list or map by its position.
 *
 * @param node   may be NULL or of another kind.
 * @param index  from 0, in the order of the document.
 * @return borrowed; NULL when there is no such entry.
 * @since 0.1
 */
MPIJOB_API const mpijob_node *mpijob_node_at(const mpijob_node *node, size_t index);

/**
 * Get the key of a map's entry by its position.
 *
 * @param node   may be NULL or of another kind.
 * @param index  from 0, in the order of the document.
 * @return borrowed; NULL when there is no such entry. A key never contains a NUL byte.
 * @since 0.1
 */
MPIJOB_API const char *mpijob_node_key(const mpijob_node *node, size_t index);

/**
 * Get a map's value by its key.
 *
 * @param node  may be NULL or of another kind.
 * @param key   not NULL.
 * @return borrowed; NULL when the key is absent (a null value is a node of kind
 *         `MPIJOB_NODE_NULL`).
 * @since 0.1
 */
MPIJOB_API const mpijob_node *mpijob_node_get(const mpijob_node *node, const char *key);

/**
 * Read a string, or the spelling of a number.
 *
 * @param node  may be NULL or of another kind.
 * @return borrowed; NULL when it is neither. A string may contain NUL bytes; see
 *         mpijob_node_length().
 * @since 0.1
 */
MPIJOB_API const char *mpijob_node_text(const mpijob_node *node);

/**
 * Count the bytes of mpijob_node_text(), including NUL bytes inside of it.
 *
 * @param node  may be NULL or of another kind: 0.
 * @return the length in bytes.
 * @since 0.1
 */
MPIJOB_API size_t mpijob_node_length(const mpijob_node *node);

/**
 * Read a string; unlike mpijob_node_text(), not a number.
 *
 * @param node  may be NULL or of another kind.
 * @return borrowed; NULL when it is not a string.
 * @since 0.1
 */
MPIJOB_API const char *mpijob_node_string(const mpijob_node *node);

/**
 * Read a whole number.
 *
 * @param node  may be NULL.
 * @param out   not NULL; set only when 1 is returned.
 * @return 1 when the node is a whole number that fits into `out` (also when spelled `1.0` or
 *         `1e3`); else 0.
 * @since 0.1
 */
MPIJOB_API int mpijob_node_int(const mpijob_node *node, int64_t *out);

/**
 * Read true or false.
 *
 * @param node  may be NULL.
 * @param out   not NULL; 1 for true, 0 for false; set only when 1 is returned.
 * @return 1 when the node is a boolean; else 0.
 * @since 0.1
 */
MPIJOB_API int mpijob_node_bool(const mpijob_node *node, int *out);

/**
 * Return the line of a value in its source.
 *
 * @param node  may be NULL.
 * @return the line, from 1; 0 when it was not read from text.
 * @since 0.1
 */
MPIJOB_API int32_t mpijob_node_line(const mpijob_node *node);

/**
 * Return the column of a value in its source.
 *
 * @param node  may be NULL.
 * @return the column in bytes, from 1; 0 when it was not read from text.
 * @since 0.1
 */
MPIJOB_API int32_t mpijob_node_column(const mpijob_node *node);

/**
 * Return the line and column of a key of a map in its source.
 *
 * @param node   a map; may be NULL or of another kind.
 * @param index  from 0.
 * @param line   receives the line, from 1, or 0; may be NULL.
 * @param column receives the column in bytes, from 1, or 0; may be NULL.
 * @since 0.1
 */
MPIJOB_API void mpijob_node_key_place(const mpijob_node *node, size_t index, int32_t *line,
    int32_t *column);

/**
 * Compare two values: kinds, strings, numbers and entries must be equal; the order of keys does not
 * matter.
 *
 * Numbers are equal when Kubernetes reads the same number from both spellings: 1, 1.0 and 1e0; 1.5
 * and 1.50. The comparison allocates memory only for trees deeper than 500; if that fails,
 * it returns 0.
 *
 * @param a  may be NULL.
 * @param b  may be NULL; two NULLs are equal.
 * @return 1 when equal, else 0.
 * @since 0.1
 */
MPIJOB_API int mpijob_node_equal(const mpijob_node *a, const mpijob_node *b);

/** @} */
/** @name Build and change
 * All nodes must belong to `doc`, unless the description says "from any document". On failure a
 * function returns NULL, the tree is unchanged, and mpijob_doc_error() returns the error. The
 * returned nodes are borrowed from the document.
 *
 * Strings and keys are UTF-8, else the call fails with `MPIJOB_ERR_USAGE`. A list or map can be an
 * entry of at most one list or map, and neither of itself nor of its own entries. Adding it a
 * second time fails with `MPIJOB_ERR_USAGE`: remove it first, or add a copy.
 * @{ */

/**
 * Return the first error of all building calls on this document.
 *
 * @param doc  may be NULL: `MPIJOB_ERR_NOMEM`, so that the result of mpijob_doc_new() need not be
 *             checked separately.
 * @return 0; `MPIJOB_ERR_NOMEM`; `MPIJOB_ERR_USAGE` (a put on a node that is not a map, an invalid
 *         path, text that is not UTF-8, a list or map that already is an entry elsewhere or would
 *         contain itself).
 * @since 0.1
 */
MPIJOB_API int mpijob_doc_error(const mpijob_doc *doc);

/**
 * Get the root value, to change it.
 *
 * @param doc  may be NULL.
 * @return borrowed from the document; NULL when `doc` is.
 * @since 0.1
 */
MPIJOB_API mpijob_node *mpijob_doc_edit(mpijob_doc *doc);

/**
 * Replace the root value.
 *
 * @param doc   may be NULL.
 * @param node  of this document; may be NULL.
 * @return `node`, or NULL.
 * @since 0.1
 */
MPIJOB_API mpijob_node *mpijob_doc_set_root(mpijob_doc *doc, mpijob_node *node);

/**
 * Find a value by its path, to change it.
 *
 * @param doc   may be NULL.
 * @param path  a path from the root; not NULL.
 * @return borrowed; NULL when there is nothing at that path (mpijob_doc_error() does not report
 *         this).
 * @since 0.1
 */
MPIJOB_API mpijob_node *mpijob_doc_find(mpijob_doc *doc, const char *path);

/**
 * Find a map by its path. The map and its parents are created where they are absent or null.
 *
 * @param doc   may be NULL.
 * @param path  a path from the root; not NULL; indices must exist.
 * @return borrowed; NULL when a value on the path is not a map, or memory ran out.
 * @since 0.1
 */
MPIJOB_API mpijob_node *mpijob_doc_make(mpijob_doc *doc, const char *path);

/**
 * Make a value that is not part of the tree yet.
 *
 * @param doc   may be NULL.
 * @param text  the string, or the spelling of the number; not NULL. A string must be UTF-8; a
 *              number must have JSON's grammar and fit into a double; otherwise the error is
 *              `MPIJOB_ERR_USAGE`.
 * @param len   number of bytes.
 * @return borrowed from the document, or NULL.
 * @since 0.1
 */
MPIJOB_API mpijob_node *mpijob_node_new_string(mpijob_doc *doc, const char *text, size_t len);
/** See mpijob_node_new_string(). @since 0.1 */
MPIJOB_API mpijob_node *mpijob_node_new_number(mpijob_doc *doc, const char *text, size_t len);
/** Make a whole number; see mpijob_node_new_string(). @since 0.1 */
MPIJOB_API mpijob_node *mpijob_node_new_int(mpijob_doc *doc, int64_t value);
/** Make false (`value` 0) or true (any other `value`); see mpijob_node_new_string(). @since 0.1 */
MPIJOB_API mpijob_node *mpijob_node_new_bool(mpijob_doc *doc, int value);
/** Make null; see mpijob_node_new_string(). @since 0.1 */
MPIJOB_API mpijob_node *mpijob_node_new_null(mpijob_doc *doc);
/** Make an empty list; see mpijob_node_new_string(). @since 0.1 */
MPIJOB_API mpijob_node *mpijob_node_new_list(mpijob_doc *doc);
/** Make an empty map; see mpijob_node_new_string(). @since 0.1 */
MPIJOB_API mpijob_node *mpijob_node_new_map(mpijob_doc *doc);

/**
 * Copy a value from any document into this one, with its lines and columns. The copy is not part of
 * the tree yet.
 *
 * @param doc   may be NULL.
 * @param node  from any document, also this one; may be NULL.
 * @return borrowed from `doc`, or NULL.
 * @since 0.1
 */
MPIJOB_API mpijob_node *mpijob_node_copy(mpijob_doc *doc, const mpijob_node *node);

/**
 * Set a key of a map. A key that exists keeps its position; a new key is appended.
 *
 * @param doc    may be NULL.
 * @param map    a map of this document; may be NULL.
 * @param key    not NULL; copied.
 * @param value  of this document; not an entry yet if it is a list or map; may be NULL (nothing
 *               happens).
 * @return `value`, or NULL.
 * @since 0.1
 */
MPIJOB_API mpijob_node *mpijob_node_put(mpijob_doc *doc, mpijob_node *map, const char *key,
    mpijob_node *value);

/** Set a key to a copy of a NUL-terminated string. `text` may be NULL: nothing happens. @since 0.1
 */
MPIJOB_API mpijob_node *mpijob_node_put_string(mpijob_doc *doc, mpijob_node *map, const char *key,
    const char *text);
/**
 * Set a key to a copy of a NUL-terminated string that may not be UTF-8, such as the output of a
 * program. Each byte that is not UTF-8 becomes U+FFFD.
 *
 * @param doc   may be NULL.
 * @param map   a map of this document; may be NULL.
 * @param key   not NULL; UTF-8; copied.
 * @param text  may be NULL: nothing happens.
 * @return the new string node, or NULL.
 * @since 0.1
 */
MPIJOB_API mpijob_node *mpijob_node_put_lossy(mpijob_doc *doc, mpijob_node *map, const char *key,
    const char *text);
/** Set a key to a whole number. @since 0.1 */
MPIJOB_API mpijob_node *mpijob_node_put_int(mpijob_doc *doc, mpijob_node *map, const char *key,
    int64_t value);
/** Set a key to true or false. @since 0.1 */
MPIJOB_API mpijob_node *mpijob_node_put_bool(mpijob_doc *doc, mpijob_node *map, const char *key,
    int value);
/** Set a key to a new empty map, and return that map. @since 0.1 */
MPIJOB_API mpijob_node *mpijob_node_put_map(mpijob_doc *doc, mpijob_node *map, const char *key);
/** Set a key to a new empty list, and return that list. @since 0.1 */
MPIJOB_API mpijob_node *mpijob_node_put_list(mpijob_doc *doc, mpijob_node *map, const char *key);
/** Set a key to a copy of a value from any document. @since 0.1 */
MPIJOB_API mpijob_node *mpijob_node_put_copy(mpijob_doc *doc, mpijob_node *map, const char *key,
    const mpijob_node *value);

/**
 * Append a value to a list.
 *
 * @param doc    may be NULL.
 * @param list   a list of this document; may be NULL.
 * @param value  of this document; not an entry yet if it is a list or map; may be NULL (nothing
 *               happens).
 * @return `value`, or NULL.
 * @since 0.1
 */
MPIJOB_API mpijob_node *mpijob_node_append(mpijob_doc *doc, mpijob_node *list, mpijob_node *value);

/** Append a copy of a NUL-terminated string. @since 0.1 */
MPIJOB_API mpijob_node *mpijob_node_append_string(mpijob_doc *doc, mpijob_node *list,
    const char *text);
/** Append a new empty map, and return that map. @since 0.1 */
MPIJOB_API mpijob_node *mpijob_node_append_map(mpijob_doc *doc, mpijob_node *list);

/**
 * Get an entry of a map by its key, to change it.
 *
 * @param node  may be NULL.
 * @param key   not NULL.
 * @return borrowed; NULL when absent (mpijob_doc_error() does not report this).
 * @since 0.1
 */
MPIJOB_API mpijob_node *mpijob_node_edit(mpijob_node *node, const char *key);
/** Get an entry of a list or map by its position, to change it. @since 0.1 */
MPIJOB_API mpijob_node *mpijob_node_edit_at(mpijob_node *node, size_t index);

/**
 * Remove a key from a map.
 *
 * @param map  may be NULL or of another kind.
 * @param key  not NULL.
 * @return 1 if it existed, else 0.
 * @since 0.1
 */
MPIJOB_API int mpijob_node_remove(mpijob_node *map, const char *key);

/**
 * Remove an entry from a list or map by its position; the positions of later entries decrease by
 * one.
 *
 * @param node   may be NULL or of another kind.
 * @param index  from 0.
 * @return 1 if it existed, else 0.
 * @since 0.1
 */
MPIJOB_API int mpijob_node_remove_at(mpijob_node *node, size_t index);

/**
 * Apply a JSON merge patch (RFC 7396) to a document: null removes a key, maps are merged, other
 * values are replaced.
 *
 * @param doc    not NULL; unchanged on failure.
 * @param patch  from any document; not NULL.
 * @return 0, `MPIJOB_ERR_NOMEM`, `MPIJOB_ERR_USAGE` (NULL).
 * @since 0.1
 */
MPIJOB_API int mpijob_doc_merge(mpijob_doc *doc, const mpijob_node *patch);

/** @} */
/** @name Write text
 * @{ */

/**
 * Write a value as text. Reading the text gives the same tree.
 *
 * @param node    not NULL.
 * @param format  `MPIJOB_FORMAT_YAML`, `_JSON` or `_JSON_COMPACT`; the text ends in a line end,
 *                except with `_JSON_COMPACT`.
 * @param write   the sink; not NULL.
 * @param user    passed to the sink.
 * @return 0, `MPIJOB_ERR_NOMEM`, `MPIJOB_ERR_USAGE`, or what the sink returned.
 * @since 0.1
 */
MPIJOB_API int mpijob_node_write(const mpijob_node *node, int32_t format, mpijob_write_fn write,
    void *user);

/** @} */

#ifdef __cplusplus
}
#endif

#endif /* MPIJOB_DOC_H */
