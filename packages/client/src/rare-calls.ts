// Calls that most pages never make. One chunk, because two would share a third, which bundlers build from modules of
// the page's first chunk.
export { branchesOf } from './open-branch.ts';
export { openRestorePlan } from './open-restore-plan.ts';
export { findNamedMoment, openRowHistory } from './open-row-history.ts';
export { requireAllSent } from './tab/require-all-sent.ts';
