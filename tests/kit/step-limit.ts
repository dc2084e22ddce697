/** How long one step on a page may take. Less than a test may take, so that a hang is reported with its step. */
export const STEP_LIMIT_MS = 10 * 60_000;
