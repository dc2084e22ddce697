// Measures one document store, then ends.
import { measureDocuments } from '../documents/measure.ts';
import type { StoreName } from '../documents/store-name.ts';

self.addEventListener('message', ({ data: [name, file, sizeKiB] }: MessageEvent<[StoreName, string, number]>) => {
  measureDocuments(name, file, sizeKiB).then(
    (figures) => self.postMessage({ figures }),
    (error: unknown) =>
      self.postMessage({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  );
});
