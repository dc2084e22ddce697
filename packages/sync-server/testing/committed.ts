/** What was pushed before is decided: pushes wait for the end of a tick. */
export function committed(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}
