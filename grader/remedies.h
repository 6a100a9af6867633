/* remedies.h - what to try next, for each way in which a launch or a build can go wrong.
 *
 * Sentences for students, static: nothing allocates or fails. */
#ifndef SPILLWAY_REMEDIES_H
#define SPILLWAY_REMEDIES_H

/* Who reads it: a student of a lab, or somebody with a kernel of their own. */
enum remedy_reader { REMEDY_IN_LAB, REMEDY_ANYWHERE };

/* For the kind of a run's fault ("out of bounds", "trap", …) and its sentence; NULL for a kind
 * without one. */
const char *remedy_for_fault(const char *kind, const char *text, enum remedy_reader reader);

/* For the first error of nvcc or ptxas; NULL for one that speaks for itself. */
const char *remedy_for_compiler(const char *first_error);

#endif
