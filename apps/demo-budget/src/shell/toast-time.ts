/** Long enough to read and decide; afterwards, the undo shortcut still works. */
export const TOAST_MS = 10_000;
