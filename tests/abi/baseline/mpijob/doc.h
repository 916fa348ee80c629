/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MPIJOB_DOC_H
#define MPIJOB_DOC_H
#include <mpijob/base.h>
#include <mpijob/diag.h>
#ifdef __cplusplus
extern "C" {
#endif
typedef struct mpijob_doc mpijob_doc;
typedef struct mpijob_docs mpijob_docs;
typedef struct mpijob_node mpijob_node;
#define MPIJOB_FORMAT_AUTO 0
#define MPIJOB_FORMAT_YAML 1
#define MPIJOB_FORMAT_JSON 2
#define MPIJOB_FORMAT_JSON_COMPACT 3
struct mpijob_parse_options {
	size_t size;
	const char *source;
	int32_t format;
	int32_t max_depth;
	size_t max_bytes;
	size_t max_values;
	size_t max_aliases;
	size_t max_expanded;
	size_t max_findings;
	int32_t no_places;
	int32_t reserved;
};
#define MPIJOB_PARSE_OPTIONS_INIT { sizeof(struct mpijob_parse_options), NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0 }
MPIJOB_API int mpijob_doc_parse(const char *text, size_t len, const struct mpijob_parse_options *options, mpijob_doc **out, mpijob_diag *diag);
MPIJOB_API int mpijob_docs_parse(const char *text, size_t len, const struct mpijob_parse_options *options, mpijob_docs **out, mpijob_diag *diag);
MPIJOB_API const mpijob_doc *mpijob_docs_at(const mpijob_docs *docs, size_t index);
MPIJOB_API void mpijob_docs_free(mpijob_docs *docs);
MPIJOB_API mpijob_doc *mpijob_doc_new(void);
MPIJOB_API mpijob_doc *mpijob_doc_from_node(const mpijob_node *node, const char *source);
MPIJOB_API void mpijob_doc_free(mpijob_doc *doc);
#define MPIJOB_NODE_NONE 0
#define MPIJOB_NODE_NULL 1
#define MPIJOB_NODE_BOOL 2
#define MPIJOB_NODE_NUMBER 3
#define MPIJOB_NODE_STRING 4
#define MPIJOB_NODE_LIST 5
#define MPIJOB_NODE_MAP 6
MPIJOB_API const mpijob_node *mpijob_doc_root(const mpijob_doc *doc);
MPIJOB_API const char *mpijob_doc_source(const mpijob_doc *doc);
MPIJOB_API int mpijob_node_describe(const mpijob_node *node, mpijob_write_fn write, void *user);
MPIJOB_API const mpijob_node *mpijob_node_find(const mpijob_node *node, const char *path);
MPIJOB_API int32_t mpijob_node_kind(const mpijob_node *node);
MPIJOB_API size_t mpijob_node_count(const mpijob_node *node);
MPIJOB_API const mpijob_node *mpijob_node_at(const mpijob_node *node, size_t index);
MPIJOB_API const char *mpijob_node_key(const mpijob_node *node, size_t index);
MPIJOB_API const mpijob_node *mpijob_node_get(const mpijob_node *node, const char *key);
MPIJOB_API const char *mpijob_node_text(const mpijob_node *node);
MPIJOB_API size_t mpijob_node_length(const mpijob_node *node);
MPIJOB_API const char *mpijob_node_string(const mpijob_node *node);
MPIJOB_API int mpijob_node_int(const mpijob_node *node, int64_t *out);
MPIJOB_API int mpijob_node_bool(const mpijob_node *node, int *out);
MPIJOB_API void mpijob_node_place(const mpijob_node *node, int32_t *line, int32_t *column);
MPIJOB_API void mpijob_node_key_place(const mpijob_node *node, size_t index, int32_t *line, int32_t *column);
MPIJOB_API int mpijob_node_equal(const mpijob_node *a, const mpijob_node *b);
MPIJOB_API int mpijob_doc_error(const mpijob_doc *doc);
MPIJOB_API mpijob_node *mpijob_doc_edit(mpijob_doc *doc, const char *path);
MPIJOB_API mpijob_node *mpijob_doc_make(mpijob_doc *doc, const char *path);
MPIJOB_API mpijob_node *mpijob_node_new(mpijob_doc *doc, int32_t kind);
MPIJOB_API mpijob_node *mpijob_node_new_text(mpijob_doc *doc, int32_t kind, const char *text, size_t len);
MPIJOB_API mpijob_node *mpijob_node_new_bool(mpijob_doc *doc, int value);
MPIJOB_API mpijob_node *mpijob_node_copy(mpijob_doc *doc, const mpijob_node *node);
MPIJOB_API mpijob_node *mpijob_node_put(mpijob_doc *doc, mpijob_node *map, const char *key, mpijob_node *value);
MPIJOB_API mpijob_node *mpijob_node_put_string(mpijob_doc *doc, mpijob_node *map, const char *key, const char *text);
MPIJOB_API mpijob_node *mpijob_node_put_lossy(mpijob_doc *doc, mpijob_node *map, const char *key, const char *text);
MPIJOB_API mpijob_node *mpijob_node_put_int(mpijob_doc *doc, mpijob_node *map, const char *key, int64_t value);
MPIJOB_API mpijob_node *mpijob_node_put_bool(mpijob_doc *doc, mpijob_node *map, const char *key, int value);
MPIJOB_API mpijob_node *mpijob_node_put_map(mpijob_doc *doc, mpijob_node *map, const char *key);
MPIJOB_API mpijob_node *mpijob_node_put_list(mpijob_doc *doc, mpijob_node *map, const char *key);
MPIJOB_API mpijob_node *mpijob_node_put_copy(mpijob_doc *doc, mpijob_node *map, const char *key, const mpijob_node *value);
MPIJOB_API mpijob_node *mpijob_node_append(mpijob_doc *doc, mpijob_node *list, mpijob_node *value);
MPIJOB_API mpijob_node *mpijob_node_append_string(mpijob_doc *doc, mpijob_node *list, const char *text);
MPIJOB_API mpijob_node *mpijob_node_append_map(mpijob_doc *doc, mpijob_node *list);
MPIJOB_API mpijob_node *mpijob_node_edit(mpijob_node *node, const char *key);
MPIJOB_API mpijob_node *mpijob_node_edit_at(mpijob_node *node, size_t index);
MPIJOB_API int mpijob_node_remove(mpijob_node *map, const char *key);
MPIJOB_API int mpijob_node_remove_at(mpijob_node *node, size_t index);
MPIJOB_API int mpijob_doc_merge(mpijob_doc *doc, const mpijob_node *patch);
MPIJOB_API int mpijob_node_write(const mpijob_node *node, int32_t format, mpijob_write_fn write, void *user);
#ifdef __cplusplus
}
#endif
#endif
