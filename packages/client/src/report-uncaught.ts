/** As an error that nobody caught. Browsers have a function for that. */
export function reportUncaught(error: unknown): void {
  if (typeof reportError === 'function') reportError(error);
  else
    queueMicrotask(() => {
      throw error;
    });
}
