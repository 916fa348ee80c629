/* SPDX-License-Identifier: Apache-2.0 */
/* "Did you mean": what a word that is not known was probably meant to be. */
#ifndef MPIJOB__JOB_SUGGEST_H
#define MPIJOB__JOB_SUGGEST_H

/* The choice meant by a word; NULL when none is near. */
const char *mpijob__job_suggest_choice(const char *word, const char *const *choices);

/*
 * What is meant by an unknown key in the object of row `id`: a key of that object, or, where the
 * key is known elsewhere in the same part of the document, the path there; NULL when nothing is
 * near.
 */
const char *mpijob__job_suggest_key(int id, const char *key);

#endif
