/** Long enough to read and decide; the undo shortcut works afterwards too. */
export const TOAST_MS = 10_000;
