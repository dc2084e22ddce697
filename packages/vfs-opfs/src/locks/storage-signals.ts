/**
 * Wake-up signals between the openers of one database. They carry no data and may be lost, duplicated or late, so
 * correctness never depends on them. The writer posts one when it waits for readers to leave an old snapshot.
 */
export interface StorageSignals {
  post(name: string): void;
  /** Returns a function that stops listening. */
  listen(name: string, onSignal: () => void): () => void;
}

export function advanceSignalName(storageName: string): string {
  return `rockpool:${storageName}:advance`;
}
