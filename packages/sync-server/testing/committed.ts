/** Resolves once every earlier push is decided: pushes wait for the end of a tick. */
export function committed(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}
