/* outcome.h - what one launch gave, judged: equal, wrong and how, or not to be judged here. */
#ifndef SPILLWAY_OUTCOME_H
#define SPILLWAY_OUTCOME_H

#include "numbers.h"

/* Fills status, figures and sentences from outcome->launch, which must be there. `poison` is what
 * the output held before the launch. `blamed`: the submission holds code of another kind than the
 * lab's, so what the executor cannot do is its own doing. */
void outcome_judge(struct case_outcome *outcome, const struct numbers *numbers,
                   const struct case_data *data, uint32_t poison, bool blamed);

#endif
