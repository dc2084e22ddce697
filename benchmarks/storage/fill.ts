import { batches, document, entry, keyValue, person, type Sizes } from './dataset.ts';
import type { Operations } from './operations.ts';

/** The contents of a database before a workload runs. */
export type Dataset = 'empty' | 'values' | 'main' | 'people' | 'reports' | 'shared';

const BATCH = 50_000;
/** 2 KB each. */
const DOCUMENT_BATCH = 5_000;
const SHARED_ROWS = 10_000;

/** `lacks`: ids of workloads that this subject does not run, so it does not need their rows. */
export async function fill(
  operations: Operations,
  dataset: Dataset,
  sizes: Sizes,
  lacks: readonly string[],
): Promise<void> {
  await operations.createTables();
  switch (dataset) {
    case 'empty':
      return;
    case 'values':
      for (const rows of batches(sizes.keyValues, sizes.keyValues, keyValue)) await operations.insertKeyValues(rows);
      return;
    case 'main':
      await fill(operations, 'values', sizes, lacks);
      for (const rows of batches(sizes.documents, DOCUMENT_BATCH, document)) await operations.insertDocuments(rows);
      return;
    case 'people':
      for (const rows of batches(sizes.people, BATCH, person)) await operations.insertPeople(rows);
      return;
    case 'reports':
      await fill(operations, 'people', sizes, lacks);
      for (const rows of batches(sizes.entries, BATCH, entry)) await operations.insertEntries(rows);
      if (!lacks.includes('L11b'))
        for (const rows of batches(sizes.documents, DOCUMENT_BATCH, document))
          await operations.insertBinaryDocuments(rows);
      if (!lacks.includes('L9fts')) await operations.indexNotes();
      return;
    case 'shared':
      for (const rows of batches(SHARED_ROWS, SHARED_ROWS, keyValue)) await operations.insertKeyValues(rows);
  }
}
