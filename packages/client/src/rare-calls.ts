// Calls that most pages never make, in one chunk: two chunks would share a third, which bundlers would build from
// modules of the page's first chunk.
export { branchesOf } from './open-branch.ts';
export { openRestorePlan } from './open-restore-plan.ts';
export { findNamedMoment, openRowHistory } from './open-row-history.ts';
export { requireAllSent } from './tab/require-all-sent.ts';
export { untilUpToDate } from './tab/until-up-to-date.ts';
