// The remedy for each error code, for docs/errors.md. error-codes.ts contains the cause.

/** @typedef {import('../../packages/shared/src/errors/error-codes.ts').ErrorCode} ErrorCode */

/** @type {[title: string, remedies: Partial<Record<ErrorCode, string>>][]} */
export const ERROR_GROUPS = [
  [
    'Opening a database',
    {
      'app-outdated':
        'Reads work and sync continues; every write rejects. Deploy a bundle that knows the newer schema. `table`, `column` and `problem` name the difference.',
      'client-closed': 'Do not use a client after `close()` or `leave()`. Create a new one.',
      'code-unloadable':
        'Repeat the call when the device is online; `part` names what is missing; for `worker`, `url` and `problem` say what the page found. If it fails again, a deploy removed the files of this bundle: reload the page. For the part `sqlite`, `problem` is the browser’s message: the `.wasm` file is missing, or a [Content-Security-Policy](guides/production.md#content-security-policy) forbids WebAssembly.',
      'config-invalid':
        'Correct every problem that `problems` lists, one per line: in the options of `createClient` or the settings of the server.',
      'database-mismatch':
        'Open the database that `belongsTo` names, or choose a different `name`. To discard the local database, call `client.backup()`, then `client.leave({ discardUnsent: true })`.',
      'database-newer': 'Deploy a version of Rockpool at least as new as the one that wrote the file.',
      'migration-failed':
        'Correct the migration. `table`, `column` and the declared and found definitions name the difference; the database is as it was.',
      'migration-refused':
        'Reads work, and sync continues unless the server already has a different merge rule for the column (`schema-mismatch`). Waiting changes can be withdrawn, and rejected ones dropped, or retried while sync is connected; every other write rejects. When the device has sent its changes, and no rejected one names the column, the next tab to become the leader migrates.',
      'other-principal':
        'Sign the former user in again so that their changes are sent, or open the database under a different `name`. If `stage` is `token`, the `token` callback returned a JWT of a user other than the one of earlier sessions; if it is the same user with another `sub`, name the earlier one in `formerly`, or open the database without `sync.principal`.',
      'schema-incompatible':
        'Change the schema additively: new tables, columns with a default or NULL, and plain indexes.',
      'schema-invalid': 'Correct the schema; `problems` lists what `defineSchema` or the schema file got wrong.',
      'opening-stalled':
        'Open the client again after some time. `stage` says what the client waited for: `worker` (the start of the worker’s script), `storage` (the browser, which has to say where it can store files), or `code` (SQLite or another file of the app, from its server or a cache).',
      'tab-options-differ': 'Reload or close the other tab. `option` names the option that differs.',
      'tab-outdated': 'Reload this tab. If a deploy was rolled back, close the tab of the newer bundle.',
      'worker-stuck': 'The client restarts the worker. If a call rejects with this code, repeat it.',
      'worker-unavailable': 'Use `@rockpool/client/node` in Node, and a browser with module workers elsewhere.',
      'worker-unloadable':
        'Configure the bundler to emit the worker as a separate entry. `url` and `problem` say what the page found instead.',
    },
  ],
  [
    'Storage on the device',
    {
      'storage-busy':
        'Where only one tab at a time can open the files, close the other one. During an export or a deletion, try again when it has finished. With `waitedFor` of the leader tab, that tab is busy, for example with a migration: `onError` receives the error after 10 s, while the client continues to wait; `createClient` rejects if the tab makes no progress for 75 s.',
      'storage-corrupt':
        'With `sync`, the client has already started a fresh copy and kept the damaged one (`keptAs`). Without it, call `quarantineDatabase`.',
      'storage-ephemeral': 'Ask the user to open the app in a window that is not private.',
      'storage-full': 'Ask the user to free space, then repeat the write.',
      'storage-lost': 'Repeat the call: the client opens the storage again by itself.',
      'storage-missing': 'Wait until a tab with write access has created the database, or check the name.',
      'storage-unflushed':
        'Do not repeat the write: it is committed and will be sent. Tell the user that a power loss may still take it from this device.',
      'storage-unsupported':
        'Use a browser that has the APIs listed in `missing` ([browser support](browser-support.md)).',
    },
  ],
  [
    'Statements and transactions',
    {
      'leader-unreachable': 'Try again. If the leader tab is closing, another tab takes over.',
      'query-invalid': 'Correct the statement. The message has SQLite’s reason.',
      'sql-forbidden': 'See `problem`; the [client guide](guides/client.md#statements) lists what is not allowed.',
      'sql-read-only': 'Use `execute`, `batch` or `transaction` to write.',
      'transaction-ended':
        'Await every statement before the body of the transaction returns. On the server, the body must not be asynchronous: await before the transaction what it needs.',
      'transaction-lost': 'Run the transaction again.',
      'transaction-timeout':
        'Keep network calls and user input out of the transaction, or raise `timeoutMs` (8 s at most).',
      'undo-refused': '`problem` says what changed since. Undo an older transaction, or write the value yourself.',
      'write-forgotten': 'Read the row. The outcome of a write is kept for a day.',
      'write-in-transaction': 'Write through the `tx` that the body receives.',
    },
  ],
  [
    'Constraints and values',
    {
      'changeset-too-large': 'Split the transaction. [Limits](server.md#limits)',
      'constraint-check': 'Correct the value.',
      'constraint-data-type': 'Write a value of the type that the column declares ([values and keys](values.md)).',
      'constraint-foreign-key': 'Write the parent row first, or remove the child first.',
      'constraint-not-null': 'Give the column a value or a default.',
      'constraint-primary-key': 'Use a different key; `newId()` makes unique ones.',
      'constraint-trigger': 'Correct what the trigger’s `RAISE` names.',
      'constraint-unique': 'Use a different value, or edit the row that has it.',
      'key-invalid': 'Write a key of the declared type, at most 2,000 bytes ([values and keys](values.md)).',
      'row-missing': 'Read the row again: it has been deleted, or the key is wrong.',
      'value-invalid':
        '`problem` says what is wrong with the value, such as an integer beyond 64 bits or text that is not well-formed. `counter-range`: the counter `column` of `table` is at its limit; write a smaller difference, or drop the change.',
    },
  ],
  [
    'Rejected changes and conflicts',
    {
      'atomic-conflict': 'Show the rejected change to its author, who retries, edits or drops it.',
      'changes-unsent':
        'Wait for `status.pendingCount` and `status.rejectedCount` to reach 0, or pass `discardUnsent`.',
      'changeset-not-rejected': 'List the rejected changesets again: this one was retried, replaced or dropped.',
      'changeset-refused': 'The `validate` rule of your server rejects the change; `reason` has its sentence.',
      'changeset-withdrawn':
        'None: the user took the change back. `client.rejected` lists it, to retry, replace or drop it ([a change that waits](guides/client.md#changes-that-wait)).',
      'changeset-undecided': 'Wait until `decided` of the changeset is true, then retry or drop it.',
      'conflict-not-restorable':
        '`problem` says why: `unknown`, `schema`, `row-gone`, `counter`, `incomplete` or `unnamed-element`. For the last one, show `lost_value` to the user, who edits the document: the value is in a list element without a key, whose index may have changed.',
    },
  ],
  [
    'History',
    {
      'history-moment-gone':
        'Ask for a later moment: `earliestMs` is the earliest one that the server may still keep. If `reason` is `unknown`, the server does not have the transaction of the named version. A larger `retainedDays` keeps later states for longer, but does not bring this one back.',
      'history-not-kept': 'Declare the table under `history` in `defineSchema`.',
      'history-version-gone':
        'Read the versions again: this one was pruned, or belongs to a different row. `oldestVersion` is the oldest one that is kept, received at `oldestMs`. If `column` is set, the version does not have that column, because it was added later; restore other columns.',
      'restore-conflicts':
        'Show the `conflicts` of the plan, then apply it with `conflicts`. Nothing was written, and the plan can still be applied.',
      'version-name-invalid': 'Ask for a name of 1 to `maxLength` characters.',
      'version-name-missing':
        'Read the names with `history.names()`: this one was removed, or belongs to a different row or document.',
      'version-name-taken': 'Ask for a different name, or remove this one with `history.unname` first.',
      'version-names-full': 'Remove a name with `history.unname` first: a row or document has at most `maxNames`.',
      'version-names-undeclared':
        'Pass `versionName` of `@rockpool/client/schema` to `defineSchema` with the tables of the app, on the server too.',
    },
  ],
  [
    'Branches',
    {
      'branch-conflicts':
        'Show the conflicts of `branch.preview()`, then merge with `conflicts`. Nothing was written, and the branch stays.',
      'branch-ended':
        '`by` says whether it was merged or discarded, here or in another tab. Create a new branch with `client.branch`.',
      'branch-exists': 'Open it with `client.openBranch`, or use a different name.',
      'branch-missing': 'List the branches with `client.listBranches`: it was merged, discarded or never created.',
      'branch-of-branch': 'Create the branch from the client of the database, or merge this branch first.',
      'branch-schema-changed':
        'Read the branch with `diff` and `query`, write the changes that you still want to the database, then discard the branch.',
    },
  ],
  [
    'Documents',
    {
      'document-place-missing': 'Restore a path above it, or the whole document. Nothing was written.',
      'document-gap': 'Nothing: the client repeats the edit on the current document, or keeps it as a rejected change.',
      'document-gone': 'Insert the row, or write JSON into the column, then open the document again.',
      'document-invalid':
        '`problem` names the part of the value that is not JSON, or that the rule of the column does not allow ([documents](guides/client.md#documents)).',
      'document-too-costly': 'Split the document. The server limits the time and memory that one edit may take.',
      'document-unknown': 'Declare the column under `documents` in `merge`.',
    },
  ],
  [
    'Sign-in and access',
    {
      'auth-database-forbidden': 'Issue a token that lists this database, or invite the user.',
      'auth-forbidden': 'Give the user a role that allows the operation. Until then, writes wait on the device.',
      'auth-origin-refused':
        'Add the page’s origin to `--origin` (`origins`). A page itself shows `network-unreachable`, because browsers hide the response; the server logs `origin-refused` with the origin.',
      'auth-signed-out': 'Let the user sign in, then call `client.sync.tryNow()`.',
      'auth-site-confirmed': 'Nothing: the client reconnects.',
      'auth-site-refused': 'Sign in as the user who synced this database, or open it under a different `name`.',
      'auth-token-expired': 'Nothing, if `token` fetches a new one for each call; the client asks again.',
      'auth-token-invalid':
        'Get a new token. If that one is rejected too: `claim` names the claim that the server refuses, such as `aud` (`--audience`), `iss` (`--issuer`, `--oidc-issuer`) or `role`. Without it, the token is missing, malformed or not signed with a key of `--secret-file`, `--key-set` or `--oidc-issuer`.',
      'auth-unavailable':
        'Restore access to the identity provider’s key set or to your `authenticate` function; with `check`, that function of yours did not answer within `withinMs`.',
      'invitation-invalid': 'Create a new invitation.',
      'quota-exceeded':
        'Ask the operator for more; the changes are then sent. `quota` names the quota, and `limit` is its size. Unless it is `sites`, the user can also withdraw large changes that wait (`client.outbox`); those behind them are sent if they only delete rows. A withdrawal costs a site. Deleted rows of a database count until their tombstones expire ([a full disk](server.md#a-full-disk)).',
      'token-callback-failed':
        'Fix the `token` callback; `cause` has what it threw. If the callback returns an HTML page instead of a token, the error is `network-unreachable`.',
    },
  ],
  [
    'Connection and protocol',
    {
      'frame-invalid': 'Look for a proxy that changes frames, or report a bug.',
      'frame-too-large': 'Report a bug: the client splits messages below the limit.',
      'frame-unexpected': 'Report a bug.',
      'network-unreachable':
        'Nothing: the client retries. `stage` says what did not answer: `token` (your own server), `socket`, `welcome`, `outcome`, `delivery` or `silence`. If `problem` says that the response is an HTML page, something else answers at the path of the token. If the error lasts, check the URL, and whether the server allows the page’s origin ([`auth-origin-refused`](#auth-origin-refused)).',
      'presence-invalid': 'Show less: a presence state is JSON of at most 2 KB.',
      'protocol-version': 'Update the server first, then the app.',
      'rate-limited': 'Nothing: the client slows down. An operator can raise `limits`.',
      'request-invalid': 'Correct the HTTP request; `problem` names the fault.',
      'session-replaced': 'Nothing, unless it repeats: then two copies of one local database are in use.',
      'slow-consumer': 'Nothing: the client reconnects and catches up.',
      'snapshot-unavailable': 'Nothing: rows arrive as deliveries. `stage` says where the download failed.',
      'too-many-connections': 'Close unused clients of this user, or raise `limits`.',
    },
  ],
  [
    'Server and history',
    {
      'backup-damaged':
        'Restore an earlier or later moment with `--at`. `object` and `problem` say what is wrong: [continuous backup](server.md#continuous-backup).',
      'backup-unavailable':
        'Check address, credentials and network of the storage. `operation`, `status` and `systemCode` say what failed. The server tries again by itself.',
      'changeset-chain-broken': 'Report a bug.',
      'changeset-failed':
        'Split the transaction, or change its values, and retry. The operator finds the cause in the server’s log.',
      'changeset-invalid': 'Report a bug.',
      'cursor-ahead': 'Nothing: the client takes a full resync and sends what the server lacks.',
      'database-damaged': 'The operator repairs the database: [a damaged database](server.md#a-damaged-database).',
      'database-fetching':
        'Nothing: the client connects again by itself. `fetchedBytes` of `totalBytes` have arrived. If this lasts, the operator reads the server’s log ([continuous backup](server.md#continuous-backup)).',
      'database-unavailable': 'The operator reads the server’s log for the cause.',
      'epoch-changed': 'Nothing: the client reconnects and syncs with the restored log.',
      internal:
        'Report a bug, with the fields of the error. If `storage` is `storage-failed`, the browser could not read or write a file, for a reason that Rockpool does not know: after a failed read the client opens the files again; after a failed write, reload the tab if this continues.',
      'replica-diverged': 'Report a bug. The client has already replaced the rows with the server’s.',
      'schema-mismatch':
        'Give the server the newer schema, or update the app. `table`, `column` and `side` name the first difference.',
      'schema-unknown-column':
        'Deploy the server’s schema before the app: the side with the older schema lacks the column. Or correct the name of the column.',
      'schema-unknown-table':
        'Deploy the server’s schema before the app: the side with the older schema lacks the table. Or correct the name of the table.',
      'search-index-damaged': 'Nothing: the leader tab rebuilds the index.',
      'server-disk-full': 'The operator frees disk space. Nothing is lost on the device.',
      'site-copied': 'Nothing: the client continues as a new site and sends its changes again.',
    },
  ],
];
