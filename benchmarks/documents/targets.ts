import type { Target } from '../report/target.ts';
import { SIZES_KIB } from './dataset.ts';

/** Reading is reading a column of text; what is written is parsed, captured and kept in the changelog until the server has it. */
const AT_MOST: Readonly<Record<string, number>> = { dump: 1.2, extract: 1.2, filter: 1.2, order: 1.2, index: 1.2, 'filter by the index': 1.5 };

export const DOCUMENT_TARGETS: readonly Target[] = Object.entries(AT_MOST).flatMap(([test, atMost]) =>
  SIZES_KIB.map((sizeKiB): Target => ({ workload: `${test}, ${sizeKiB} KB`, title: `${test}, 4 MB in documents of ${sizeKiB} KB`, variant: '', atMost, of: 'json' })),
);
