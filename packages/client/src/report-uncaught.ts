/** Reports an uncaught error. Browsers have a function for it. */
export function reportUncaught(error: unknown): void {
  if (typeof reportError === 'function') reportError(error);
  else
    queueMicrotask(() => {
      throw error;
    });
}
