import type { ErrorData } from '@rockpool/shared';
import type { WorkedDocument } from './document-work.ts';

/** The first message of a worker to its pool, after its script has loaded. */
export const READY = 'ready';

/** The response of a worker to one piece of work. */
export type DocumentAnswer = { readonly result: WorkedDocument } | { readonly error: ErrorData };
