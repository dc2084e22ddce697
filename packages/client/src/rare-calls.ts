// Calls that most pages never make, in one chunk: two chunks would share a third, which bundlers would build from
// modules of the page's first chunk.
export { branchesOf } from './open-branch.ts';
export { openRestorePlan } from './open-restore-plan.ts';
export { findNamedMoment, openRowHistory } from './open-row-history.ts';
// Not imported by `open-past.ts` itself, because the bundler would then move shared code to the page's first load.
export { callListener } from './tab/listeners.ts';
export { requireAllSent } from './tab/require-all-sent.ts';
export { untilUpToDate } from './tab/until-up-to-date.ts';
