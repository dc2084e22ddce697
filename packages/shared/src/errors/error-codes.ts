/** The action that a caller can take after an error. */
export type Recovery =
  | 'retry' // the same call may succeed later
  | 'rebase' // fetch newer state, then try again
  | 'reauthenticate' // get a new token
  | 'upgrade' // load a newer version of the app or the server
  | 'free-space' // make room on the device
  | 'ask-user' // a person has to decide or correct the input
  | 'bug'; // a fault in Rockpool or in the code that calls it

/**
 * Every expected failure of Rockpool on both sides of the wire, with its recovery and one plain sentence. Row values
 * never appear. A code is never renamed or reused: outcomes store it and apps show it.
 */
const ERROR_KINDS = {
  'app-outdated': ['upgrade', 'A newer version of the app has changed this database; this version can only read it.'],
  'atomic-conflict': [
    'ask-user',
    'Part of this atomic transaction lost to a concurrent write, so all of it was rejected.',
  ],
  'auth-database-forbidden': ['reauthenticate', 'The token does not allow access to this database.'],
  'auth-forbidden': ['ask-user', 'The token does not allow this operation.'],
  'auth-origin-refused': ['ask-user', 'The server does not accept connections from this origin.'],
  'auth-signed-out': ['reauthenticate', 'No user is signed in.'],
  'auth-site-confirmed': ['retry', 'The server now links this database to the signed-in user; the client reconnects.'],
  'auth-site-refused': ['reauthenticate', 'Another user has synced this local database.'],
  'auth-token-expired': ['reauthenticate', 'The token has expired.'],
  'auth-token-invalid': ['reauthenticate', 'The server does not accept this token.'],
  'auth-unavailable': ['retry', 'The server cannot check tokens right now.'],
  'backup-damaged': ['ask-user', 'The backup is damaged or incomplete.'],
  'backup-unavailable': ['retry', 'The backup storage is unreachable or refuses access.'],
  'branch-conflicts': ['ask-user', 'The branch and its origin changed the same values.'],
  'branch-ended': ['ask-user', 'The branch was merged or discarded.'],
  'branch-exists': ['ask-user', 'A branch with this name already exists.'],
  'branch-missing': ['ask-user', 'No branch has this name.'],
  'branch-of-branch': ['ask-user', 'A branch cannot have branches.'],
  'branch-schema-changed': ['ask-user', 'The schema has changed since the branch began.'],
  'changes-unsent': ['ask-user', 'The database has unsent changes.'],
  'changeset-chain-broken': ['bug', 'A changeset does not follow its predecessor.'],
  'changeset-failed': ['ask-user', 'The server repeatedly failed to store this changeset.'],
  'changeset-invalid': ['bug', 'A changeset cannot be decoded.'],
  'changeset-not-rejected': ['ask-user', 'No rejected changeset has this number.'],
  'changeset-refused': ['ask-user', 'The app’s `validate` rule rejected the change.'],
  'changeset-too-large': ['ask-user', 'The transaction is too large to sync.'],
  'changeset-undecided': ['retry', 'The server has not acknowledged this changeset yet.'],
  'changeset-withdrawn': ['ask-user', 'The changeset was withdrawn.'],
  'client-closed': ['bug', 'The client is closed.'],
  'code-unloadable': ['retry', 'Part of the app’s code could not be loaded.'],
  'config-invalid': ['ask-user', 'The configuration is invalid.'],
  'conflict-not-restorable': ['ask-user', 'The value that lost this conflict cannot be restored.'],
  'constraint-check': ['ask-user', 'A CHECK constraint rejects the change.'],
  'constraint-data-type': ['ask-user', 'A value has a type that its column does not accept.'],
  'constraint-foreign-key': ['ask-user', 'A foreign key rejects the change.'],
  'constraint-not-null': ['ask-user', 'A NOT NULL column has no value.'],
  'constraint-primary-key': ['ask-user', 'A row with this primary key already exists.'],
  'constraint-trigger': ['ask-user', 'A trigger rejects the change.'],
  'constraint-unique': ['ask-user', 'A UNIQUE constraint rejects the change.'],
  'cursor-ahead': ['rebase', 'The client is ahead of the server’s log.'],
  'database-damaged': [
    'retry',
    'The server’s copy of this database is damaged and offline until its operator restores it. Changes stay on this device.',
  ],
  'database-fetching': ['retry', 'The server is fetching this database from its backup.'],
  'database-mismatch': [
    'ask-user',
    'This local database belongs to a different server database, so nothing syncs. Open that database, or use another name. To discard this one, back it up and leave it.',
  ],
  'database-newer': ['upgrade', 'A newer version of Rockpool wrote this database; it is unchanged.'],
  'database-unavailable': ['retry', 'The server cannot open this database right now.'],
  'document-gap': [
    'rebase',
    'An edit depends on an edit that the server rejected, or was made in an earlier form of its document.',
  ],
  'document-gone': ['ask-user', 'The document’s row is missing, or its column is NULL.'],
  'document-invalid': ['ask-user', 'A document column has a value that is not mergeable JSON.'],
  'document-place-missing': ['ask-user', 'The document does not contain this path.'],
  'document-too-costly': ['ask-user', 'A document exceeds the server’s limits of time or memory.'],
  'document-unknown': ['bug', 'The schema has no document column with this name.'],
  'epoch-changed': ['retry', 'The server’s log was restored; the next connection syncs everything again.'],
  'frame-invalid': ['bug', 'A frame cannot be decoded.'],
  'frame-too-large': ['bug', 'A frame is larger than the limit.'],
  'frame-unexpected': ['bug', 'The protocol does not allow this frame in this state.'],
  'history-moment-gone': ['ask-user', 'The server no longer keeps the database as it was then.'],
  'history-not-kept': ['ask-user', 'The table has no history.'],
  'history-version-gone': ['ask-user', 'The history of the row lacks this version.'],
  internal: ['bug', 'Internal error in Rockpool.'],
  'invitation-invalid': ['ask-user', 'The invitation is unknown, expired, used or withdrawn.'],
  'key-invalid': [
    'ask-user',
    'A part of a primary key is NULL, has the wrong type, is too large, or equals another key in SQLite.',
  ],
  'leader-unreachable': ['retry', 'The leader tab is not responding.'],
  'migration-failed': ['bug', 'A migration failed; the database is unchanged.'],
  'migration-refused': [
    'ask-user',
    'A migration waits for unsent or rejected changes; this version can read the database but not write to it.',
  ],
  'network-unreachable': ['retry', 'The server cannot be reached.'],
  'opening-stalled': ['retry', 'The browser, or the server of the app’s files, is not responding.'],
  'other-principal': ['reauthenticate', 'Another user is using the database, or has unsent changes in it.'],
  'presence-invalid': ['bug', 'A presence state is not JSON or is too large, or a tab has too many of them.'],
  'protocol-version': ['upgrade', 'Client and server use different protocol versions.'],
  'query-invalid': ['bug', 'SQLite rejected this statement.'],
  'quota-exceeded': ['ask-user', 'A server quota is exceeded.'],
  'rate-limited': ['retry', 'Too many requests.'],
  'replica-diverged': ['bug', 'An audit replaced rows on this device that differed from the server’s.'],
  'request-invalid': ['bug', 'The HTTP request is invalid.'],
  'restore-conflicts': ['ask-user', 'Later writes conflict with the restore.'],
  'row-missing': ['ask-user', 'No row has this key.'],
  'schema-incompatible': ['upgrade', 'The stored database cannot be extended to this schema.'],
  'schema-invalid': ['bug', 'The schema is invalid.'],
  'schema-mismatch': ['upgrade', 'Client and server have different schemas.'],
  'schema-unknown-column': ['upgrade', 'A changeset names an unknown column.'],
  'schema-unknown-table': ['upgrade', 'A changeset names an unknown table.'],
  'search-index-damaged': ['bug', 'A full-text index is damaged; the leader tab rebuilds it.'],
  'server-disk-full': ['retry', 'The server’s disk is full. Changes stay on this device and are sent later.'],
  'session-replaced': ['retry', 'A newer connection of this client replaced this one.'],
  'site-copied': ['rebase', 'Another copy of this local database has used these changeset numbers.'],
  'slow-consumer': ['retry', 'The connection fell too far behind; the client reconnects.'],
  'snapshot-unavailable': ['retry', 'The snapshot could not be downloaded; rows arrive as deliveries instead.'],
  'sql-forbidden': ['bug', 'Rockpool does not allow this statement.'],
  'sql-read-only': ['bug', 'A query cannot write.'],
  'storage-busy': ['retry', 'Another tab or program is using the storage.'],
  'storage-corrupt': ['ask-user', 'The local database is damaged; its file was kept.'],
  'storage-ephemeral': ['ask-user', 'This window deletes its storage when it closes.'],
  'storage-full': ['free-space', 'The device is out of space; the change was not stored.'],
  'storage-lost': ['retry', 'The browser closed the storage.'],
  'storage-missing': ['retry', 'The database does not exist yet.'],
  'storage-unflushed': ['ask-user', 'The change is stored, but a power loss could still lose it.'],
  'storage-unsupported': ['ask-user', 'This browser cannot store a database.'],
  'tab-options-differ': [
    'ask-user',
    'Another tab has this database open with different options; use the same options, or close that tab.',
  ],
  'tab-outdated': ['upgrade', 'Another tab runs a newer version of the app; reload this tab, or close that one.'],
  'token-callback-failed': ['bug', 'The app’s `token` callback threw, or returned no token.'],
  'too-many-connections': ['retry', 'The connection limit is reached.'],
  'transaction-ended': ['bug', 'The transaction has ended.'],
  'transaction-lost': ['retry', 'The tab that ran the transaction closed; nothing was stored.'],
  'transaction-timeout': ['retry', 'The transaction exceeded its time limit; nothing was stored.'],
  'undo-refused': ['ask-user', 'Undo would overwrite later changes.'],
  'value-invalid': ['ask-user', 'A value cannot be stored or synced.'],
  'version-name-invalid': ['ask-user', 'The name of a version must have 1 to 100 characters.'],
  'version-name-missing': ['ask-user', 'No version has this name.'],
  'version-name-taken': ['ask-user', 'Another version has this name.'],
  'version-names-full': ['ask-user', 'The row or document already has the maximum number of named versions.'],
  'version-names-undeclared': ['bug', 'The schema does not declare `versionName`.'],
  'worker-stuck': ['retry', 'The worker is unresponsive and restarting.'],
  'worker-unavailable': ['bug', 'Web workers are unavailable; in Node, use `@rockpool/client/node`.'],
  'worker-unloadable': ['bug', 'The worker script could not be loaded.'],
  'write-forgotten': ['bug', 'The write is over a day old; its outcome is no longer stored.'],
  'write-in-transaction': ['bug', 'The transaction would wait for itself; write through `tx`.'],
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
export const ERROR_CODES: readonly ErrorCode[] = /* @__PURE__ */ Object.keys(ERROR_KINDS) as ErrorCode[];
