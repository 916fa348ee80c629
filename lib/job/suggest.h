/* SPDX-License-Identifier: Apache-2.0 */
/* "Did you mean": finds the word or field that a user probably meant. */
#ifndef MPIJOB__JOB_SUGGEST_H
#define MPIJOB__JOB_SUGGEST_H

/* The nearest choice for a misspelled word; NULL when none is near. */
const char *mpijob__job_suggest_choice(const char *word, const char *const *choices);

/*
 * The suggestion for an unknown key in the object of row `id`: a key of that object; or a path, if
 * the key exists elsewhere in the same part of the document. NULL when there is none.
 */
const char *mpijob__job_suggest_key(int id, const char *key);

#endif
