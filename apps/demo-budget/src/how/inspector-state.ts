import { useSyncExternalStore } from 'react';

const itemName = 'inspector';
const listeners = new Set<() => void>();

/** Whether the queries are shown below every page. Kept until the tab closes. */
export function useInspector(): { readonly isShown: boolean; readonly setShown: (isShown: boolean) => void } {
  const isShown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => read() === 'shown',
  );
  return {
    isShown,
    setShown: (next) => {
      write(next ? 'shown' : 'hidden');
      for (const listener of [...listeners]) listener();
    },
  };
}

let inMemory = 'hidden';

// `sessionStorage` throws in a browser that blocks storage.
function read(): string {
  try {
    return sessionStorage.getItem(itemName) ?? inMemory;
  } catch {
    return inMemory;
  }
}

function write(value: string): void {
  inMemory = value;
  try {
    sessionStorage.setItem(itemName, value);
  } catch {
    // Kept in memory.
  }
}
