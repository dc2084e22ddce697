import type { Target } from '../report/target.ts';
import { SIZES_KIB } from './dataset.ts';

/** Reading is reading a column of text; what is written is parsed, captured and kept in the changelog until the server has it. */
const AT_MOST: Readonly<Record<string, number>> = { dump: 1.2, extract: 1.2, filter: 1.2, order: 1.2, index: 1.2, 'filter by the index': 1.5 };

/** Where the time of an edit goes. */
const EDIT_ACCOUNT = 'beside the column that both write whole, the old and the new text are copied by the session, and read as strings of JavaScript to find where they differ';

export const DOCUMENT_TARGETS: readonly Target[] = [
  ...Object.entries(AT_MOST).flatMap(([test, atMost]) => SIZES_KIB.map((sizeKiB) => target(test, sizeKiB, atMost))),
  ...SIZES_KIB.map((sizeKiB): Target => ({ ...target('small edit', sizeKiB, 3), account: EDIT_ACCOUNT })),
];

function target(test: string, sizeKiB: number, atMost: number): Target {
  return { workload: `${sizeKiB}K-${test}`, title: `${test}, 4 MB in documents of ${sizeKiB} KB`, variant: '', atMost, of: 'json' };
}
