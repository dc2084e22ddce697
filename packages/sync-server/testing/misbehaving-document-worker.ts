import { parentPort, workerData } from 'node:worker_threads';
import { decodeDocumentCell } from '@rockpool/shared/document';
import { READY } from '../src/documents/document-answer.ts';
import { workOnDocument, type DocumentWork } from '../src/documents/document-work.ts';

/** The value of the gate while a thread is in its loop. */
export const LOOPING = 2;

/** The value of the gate once a thread has answered work that names `answer`. */
export const ANSWERED = 3;

/** The value of the gate once a thread ends that waited for the gate after it had answered work that names `end`. */
export const ENDED = 4;

/** How this worker misbehaves before its work, by the member `do` of a new document. */
const MISBEHAVIOURS: Readonly<Record<string, () => void>> = {
  wait: () => void Atomics.wait(workerData as Int32Array, 0, 0),
  loop: () => {
    Atomics.store(workerData as Int32Array, 0, LOOPING);
    for (;;);
  },
  hoard: () => {
    const kept: number[][] = [];
    for (;;) kept.push(new Array<number>(100_000).fill(kept.length));
  },
  crash: () => {
    throw new Error('crash');
  },
};

parentPort?.on('message', (work: DocumentWork) => {
  const cell = decodeDocumentCell(work.kind === 'expand' ? work.content : null);
  const [, misdeed = ''] = /"do":"(\w+)"/.exec(cell.kind === 'content' ? cell.json : '') ?? [];
  MISBEHAVIOURS[misdeed]?.();
  parentPort?.postMessage({ result: workOnDocument(work) });
  const gate = workerData as Int32Array;
  if (misdeed === 'answer') Atomics.store(gate, 0, ANSWERED);
  if (misdeed === 'end') {
    Atomics.wait(gate, 0, 0);
    Atomics.store(gate, 0, ENDED);
    process.exit();
  }
});
parentPort?.postMessage(READY);
