import type { Persistence } from '@rockpool/client';
import { useEffect, useState, type ReactNode } from 'react';
import { useReport } from '../shell/failure.tsx';
import { megabytes } from '../shell/megabytes.ts';

interface Storage {
  /** The browser has promised not to evict the data. */
  readonly promised: boolean;
  readonly usedBytes: number;
  readonly quotaBytes: number;
}

async function readStorage(): Promise<Storage | null> {
  // Undefined on pages loaded without encryption from another machine.
  const storage = navigator.storage as StorageManager | undefined;
  if (storage === undefined) return null;
  const [promised, estimate] = await Promise.all([storage.persisted(), storage.estimate()]);
  return { promised, usedBytes: estimate.usage ?? 0, quotaBytes: estimate.quota ?? 0 };
}

/** Where the budget is stored on this device, and whether the browser may delete it. */
export function StorageFacts({ persistence }: { readonly persistence: Persistence }): ReactNode {
  const [storage, setStorage] = useState<Storage | null>(null);
  const refresh = (): void => {
    readStorage().then(setStorage, () => setStorage(null));
  };
  useEffect(refresh, []);
  const report = useReport();
  const [isDeclined, setDeclined] = useState(false);
  const protect = (): void => {
    navigator.storage.persist().then((promised) => {
      setDeclined(!promised);
      refresh();
    }, report);
  };
  return (
    <div>
      <dt>Saved on this device</dt>
      <dd>
        {persistence === 'memory' ? 'No, only until this tab closes' : 'Yes, in this browser’s storage'}
        {storage !== null && `, ${megabytes(storage.usedBytes)} of ${megabytes(storage.quotaBytes)}`}
        {storage !== null && !storage.promised && persistence !== 'memory' && (
          <>
            . The browser may clear it when the device runs out of space.{' '}
            <button type="button" className="quiet" onClick={protect}>
              Protect it
            </button>
            {isDeclined && (
              <span role="status">
                {' '}
                The browser declined. It may agree once you have installed this app or bookmarked this page.
              </span>
            )}
          </>
        )}
      </dd>
    </div>
  );
}
