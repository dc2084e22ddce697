/** What the caller can do about an error. */
export type Recovery =
  | 'retry' // the same call may succeed later
  | 'rebase' // fetch newer state, then try again
  | 'reauthenticate' // get a new token
  | 'upgrade' // load a newer version of the app or the server
  | 'free-space' // make room on the device
  | 'ask-user' // a person has to decide or correct the input
  | 'bug'; // a fault in Rockpool or in the code that calls it

/**
 * Every expected failure of Rockpool, in one list, on both sides of the wire.
 * Each has its recovery and one plain sentence; values of rows never appear.
 * A code is never renamed or reused: it is stored in outcomes and shown by apps.
 */
const ERROR_KINDS = {
  'app-outdated': ['upgrade', 'A newer version of the app has changed this database; this version can read it, and not write to it.'],
  'atomic-conflict': ['ask-user', 'A part of this atomic transaction lost to a concurrent write, so all of it was refused.'],
  'auth-database-forbidden': ['reauthenticate', 'The token does not open this database.'],
  'auth-forbidden': ['ask-user', 'The token does not allow this operation.'],
  'auth-origin-refused': ['ask-user', 'Web pages of this origin may not connect.'],
  'auth-signed-out': ['reauthenticate', 'Nobody is signed in: the app has no token for the server.'],
  'auth-site-confirmed': ['retry', 'The server now knows this database as that of the one who signed in; the next connection goes on.'],
  'auth-site-refused': ['reauthenticate', 'This database was synced by somebody else, and the token does not show that it is the same person.'],
  'auth-token-expired': ['reauthenticate', 'The token has expired.'],
  'auth-token-invalid': ['reauthenticate', 'The token is missing, malformed or signed by someone else.'],
  'auth-unavailable': ['retry', 'The server cannot check tokens now.'],
  'changes-unsent': ['ask-user', 'The database has changes that the server has not got yet.'],
  'changeset-chain-broken': ['bug', 'A changeset does not follow its predecessor: a number is missing or a hash differs.'],
  'changeset-invalid': ['bug', 'A changeset cannot be decoded.'],
  'changeset-not-parked': ['ask-user', 'No changeset of this number is parked.'],
  'changeset-refused': ['ask-user', 'A rule of the app refuses the change.'],
  'changeset-too-large': ['ask-user', 'One transaction changed more than can ever be sent.'],
  'changeset-undecided': ['retry', 'The server has not decided about this changeset yet, so it can be neither tried again nor dropped.'],
  'client-closed': ['bug', 'The client is closed.'],
  'config-invalid': ['ask-user', 'The configuration has problems.'],
  'conflict-not-restorable': ['ask-user', 'What this entry of the conflict ledger lost cannot be written again.'],
  'constraint-check': ['ask-user', 'A CHECK constraint refuses the change.'],
  'constraint-data-type': ['ask-user', 'A column refuses a value of this type.'],
  'constraint-foreign-key': ['ask-user', 'A foreign key refuses the change.'],
  'constraint-not-null': ['ask-user', 'A NOT NULL column has no value.'],
  'constraint-primary-key': ['ask-user', 'A row with this primary key is there already.'],
  'constraint-trigger': ['ask-user', 'A trigger of the app refuses the change.'],
  'constraint-unique': ['ask-user', 'A UNIQUE constraint refuses the change.'],
  'cursor-ahead': ['rebase', 'The client knows more of the log than the server does.'],
  'database-damaged': ['retry', 'The server’s copy of this database is damaged and offline until its operator restores it; changes stay on this device until then.'],
  'database-mismatch': ['ask-user', 'This local database belongs to another database of a server, so nothing is sent or loaded. Open it for the one it belongs to, or open another name; to give it up, keep a backup, then leave it.'],
  'database-newer': ['upgrade', 'A newer version of Rockpool wrote this database; it is left as it is.'],
  'database-unavailable': ['retry', 'The server cannot open this database now.'],
  'document-gap': ['rebase', 'An edit of a document builds on another one that the server refused.'],
  'document-gone': ['ask-user', 'The row of a document is not there, or its column is NULL.'],
  'document-invalid': ['ask-user', 'The value of a document column is not JSON that can be merged.'],
  'document-too-costly': ['ask-user', 'The server could not work on a document within its limits of time and memory.'],
  'document-unknown': ['bug', 'The schema has no document column of this name.'],
  'epoch-changed': ['retry', 'The log of this database was restored; on the next connection its whole state is loaded anew.'],
  'frame-invalid': ['bug', 'A frame cannot be decoded.'],
  'frame-too-large': ['bug', 'A frame is larger than the limit.'],
  'frame-unexpected': ['bug', 'A frame arrived that does not belong in this state.'],
  internal: ['bug', 'Something failed that should not.'],
  'invitation-invalid': ['ask-user', 'The invitation does not exist, has expired or was used.'],
  'key-invalid': ['ask-user', 'A primary key has a part that is NULL or not of its column’s type, is too large, or equals another key to SQLite.'],
  'leader-unreachable': ['retry', 'The tab that writes does not answer.'],
  'migration-failed': ['bug', 'A migration of the app could not be carried out; the database is as it was.'],
  'migration-refused': ['ask-user', 'A migration of the app would lose changes that were not sent yet; the database is as it was.'],
  'network-unreachable': ['retry', 'The server cannot be reached.'],
  'other-principal': ['reauthenticate', 'The database holds unsent changes of another person, or a tab has it open as another person.'],
  'presence-invalid': ['bug', 'What a tab shows of itself to others is not JSON, is too large, or there is too much of it.'],
  'protocol-version': ['upgrade', 'Client and server speak different protocol versions.'],
  'query-invalid': ['bug', 'SQLite does not accept this statement.'],
  'rate-limited': ['retry', 'Too many requests in a short time.'],
  'replica-diverged': ['bug', 'An audit found rows of this device that differ from the server’s; they were replaced by the server’s.'],
  'request-invalid': ['bug', 'A request over HTTP is not what its route takes.'],
  'row-missing': ['ask-user', 'There is no row with this key.'],
  'schema-incompatible': ['upgrade', 'The stored database does not fit the schema of this app, and cannot be brought there by adding.'],
  'schema-invalid': ['bug', 'The schema has problems.'],
  'schema-mismatch': ['upgrade', 'Client and server have different schemas.'],
  'schema-unknown-column': ['upgrade', 'A changeset names a column that the schema does not have.'],
  'schema-unknown-table': ['upgrade', 'A changeset names a table that the schema does not have.'],
  'search-index-damaged': ['bug', 'A full-text index does not fit the rows that it is of; the leading tab makes it anew in a quiet moment.'],
  'server-disk-full': ['retry', 'The server has no disk space left; changes stay on this device and are sent again later.'],
  'session-replaced': ['retry', 'A newer connection of the same client has taken over.'],
  'site-copied': ['rebase', 'Another copy of this client database has already used these changeset numbers.'],
  'slow-consumer': ['retry', 'The connection was cut because the client read too slowly; it catches up on reconnecting.'],
  'snapshot-unavailable': ['retry', 'The server’s snapshot could not be downloaded; its rows come as deliveries instead.'],
  'sql-forbidden': ['bug', 'This statement may not be run through Rockpool.'],
  'sql-read-only': ['bug', 'A statement that writes was given where only reading is allowed.'],
  'storage-busy': ['retry', 'Another tab or program holds the storage and does not let go.'],
  'storage-corrupt': ['ask-user', 'The stored database is damaged; it is kept, not deleted.'],
  'storage-ephemeral': ['ask-user', 'This browser window forgets its storage when it closes.'],
  'storage-full': ['free-space', 'There is no room left for this change; nothing of it was kept.'],
  'storage-lost': ['retry', 'The browser closed the storage under the database.'],
  'storage-missing': ['retry', 'The database does not exist yet.'],
  'storage-unflushed': ['ask-user', 'The change is kept, but the disk did not confirm it: a power cut may still take it.'],
  'storage-unsupported': ['ask-user', 'This browser lacks what is needed to store a database.'],
  'tab-options-differ': ['ask-user', 'Another tab has this database open with other options; close or reload that tab, or open this one with the same options.'],
  'tab-outdated': ['upgrade', 'Another tab runs a newer version of the app; reload this tab, or close that one.'],
  'token-callback-failed': ['bug', 'The app’s `token` callback threw an error, or returned something that is not a token.'],
  'too-many-connections': ['retry', 'As many connections are open as may be.'],
  'transaction-ended': ['bug', 'This transaction has ended; nothing more can be done in it.'],
  'transaction-lost': ['retry', 'The tab that ran the transaction has gone; nothing of it was kept.'],
  'transaction-timeout': ['retry', 'The transaction took longer than its time limit; nothing of it was kept.'],
  'undo-refused': ['ask-user', 'This transaction can no longer be undone without touching what others did since.'],
  'value-invalid': ['ask-user', 'A value cannot be stored: infinity, text with NUL or a lone surrogate, or a type that SQLite does not have.'],
  'worker-stuck': ['retry', 'The worker of this tab does not get on; it is started anew.'],
  'worker-unavailable': ['bug', 'There are no web workers here; in Node, use `createClient` of `@rockpool/client/node`.'],
  'worker-unloadable': ['bug', 'The script of the worker could not be loaded.'],
  'write-forgotten': ['bug', 'What became of this write is not known any more: it was made more than a day ago.'],
  'write-in-transaction': ['bug', 'A transaction waits for a write that waits for its end; write through `tx`, the transaction that the body is given.'],
} as const;

export type ErrorCode = keyof typeof ERROR_KINDS;

export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(ERROR_KINDS, code);
}

export function recoveryOf(code: ErrorCode): Recovery {
  return ERROR_KINDS[code][0];
}

export function messageOf(code: ErrorCode): string {
  return ERROR_KINDS[code][1];
}

/** All codes, for tests and documentation. */
export const ERROR_CODES: readonly ErrorCode[] = Object.keys(ERROR_KINDS) as ErrorCode[];
