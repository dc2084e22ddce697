import type { Client } from '@rockpool/client';

/** The part of Rockpool's client that actions use: they take it as an argument, so that a test may pass any client. */
export type Writer = Pick<Client, 'query' | 'execute' | 'batch' | 'newId'>;
