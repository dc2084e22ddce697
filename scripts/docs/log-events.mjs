// What each event in the server's log means and what an operator does about it, for docs/operations/metrics-and-log.md.

/** Events of two texts in the code: the file does not name them where it logs. */
export const EVENTS_BY_CODE = ['database-damaged', 'disk-full', 'push-failed'];

/** @type {[title: string, events: Record<string, string>][]} */
export const LOG_EVENTS = [
  [
    'Act on these',
    {
      'backup-failed':
        'The continuous backup could not copy. `problem`, `status` or `systemCode` is the reason, `retryInMs` the time to the next attempt, `database` null if the storage as a whole fails. See [continuous backup](../server.md#continuous-backup).',
      'backup-generation':
        'A database is copied as a whole. With `"reason": "record-damaged"`, moments between the last copy and this one cannot be restored; the other reasons are routine.',
      'backup-skipped':
        'A database whose copy is incomplete or due to be renewed cannot be opened, so it is not copied. Repair it by the line about it (`database-unservable`, `database-damaged`). With `retryInMs` the server tries again.',
      'backup-expiry-delayed':
        'Old copies are deleted more slowly than usual, because the clock was far ahead or the server was stopped for more than a day. Check the clock.',
      'backup-maintenance-failed':
        'Small copies were not combined. Harmless alone; if it repeats, see `backup-failed`.',
      'database-damaged':
        'A database is offline because its file is damaged. See [a damaged database](../server.md#a-damaged-database).',
      'database-fetch-failed':
        'An unloaded database could not be fetched from the backup; its clients wait. Check the storage, or [repair the database](../server.md#a-damaged-database) if `code` is `backup-damaged`.',
      'database-unload-failed': 'A database was not unloaded and stays on the disk. The next pass tries again.',
      'database-unservable':
        'This server cannot open a database, for the reason in `code` and `problem`. Start a server with the schema or version that has written it.',
      'disk-full': 'A commit found no space. See [a full disk](../server.md#a-full-disk).',
      'key-set-outdated':
        'The keys of the identity provider could not be fetched. All of its tokens are refused a day after the last fetch.',
      'push-failed':
        'A database could not be read or written. The client sends its changes again. `code`, `sqliteCode` and `systemCode` name the cause.',
      'schema-unreadable':
        'A file of `schemas/` cannot be read; clients with that schema get `schema-mismatch`. Restore it from a backup.',
      'scrub-failed': 'The checksums of a database could not be compared. Check the disk; `doctor` compares them too.',
      'stop-overdue':
        'The server ended although its stop was not complete after 28 s, for example because a disk or PostgreSQL did not respond. Nothing acknowledged is lost; the next start continues.',
      'store-error':
        'PostgreSQL, the bus or the store of members failed, or a commit took long. The server tries again. Look at the server that `systemCode` or `problem` names.',
      'thread-ended':
        'A thread ended unexpectedly and is replaced; its sessions reconnect. If it repeats, report it with the line; `exitCode` and `name` say more.',
      'welcome-overdue':
        'A client was refused because its database was not opened within `withinMs`, for example because a disk or PostgreSQL does not respond. The client connects again.',
    },
  ],
  [
    'Bugs, of Rockpool or of your own functions',
    {
      'audit-differs': 'Rows on a device differed from the server’s. The device repairs them. Report it.',
      'authenticate-error':
        'Your `authenticate` threw something other than a `RockpoolError`, or returned an invalid principal (`problem`); the token was refused.',
      'authorize-error':
        'Your `authorize` threw, or answered with a value that is not a boolean; the operation was refused.',
      'check-unanswered':
        'Your `authenticate` or `authorize` (`check`) did not answer within `withinMs`; the client was refused with `auth-unavailable` and tries again. If you have not passed any, PostgreSQL or the identity provider does not respond.',
      'tenant-error':
        'Your `tenantOf` threw, or did not return a text, for this number of `databases`, of which `database` is one. Pushes to them are refused for now if `quotas.maxTenantBytes` is set.',
      'log-failed': 'Your `log` failed; the line before this one is the one that it did not write.',
      'trace-failed': 'Your tracer provider threw; spans are missing. Only the first failure is logged.',
      'request-error': 'A request failed with `internal`. Report it with the line.',
      'session-error': 'A session ended with `internal`. Report it with the line.',
    },
  ],
  [
    'Refusals',
    {
      'admin-refused': 'A request of the admin API without the token, or from a page of another origin.',
      'lines-dropped': 'Lines of the event in `of` that were left out, because there were more than 50 in a second.',
      'origin-refused': 'A page of another origin. Allow it by `--origin` if it is yours.',
      'request-refused': 'A request that its token does not allow.',
      'session-failed':
        'A session ended with the error in `code`: see [error codes](../errors.md). One line now and then is normal, such as `auth-token-expired`.',
      'session-silent': 'A connection that has sent nothing for 40 s was closed.',
      'socket-error': 'A connection broke, or sent what is no valid WebSocket frame.',
    },
  ],
  [
    'Routine',
    {
      'admin-request': 'A request of the admin API, with its route, database, status and duration.',
      'backup-expired': 'Copies that are older than `--backup-keep` were deleted.',
      'backup-recovered': 'The storage of the backup works again after `backup-failed`.',
      'database-fetched': 'An unloaded database is back.',
      'database-unloaded': 'A database that nobody uses is kept in the backup only.',
      'invitation-accepted': 'Somebody has become a member by an invitation.',
      'invitation-created': 'A member made an invitation.',
      'invitation-withdrawn': 'A member withdrew an invitation.',
      'member-revoked': 'A member was revoked.',
      'member-set': 'A member got a role.',
      'newer-schema': 'A database has more columns or tables than the schema of this server, which uses its schema.',
      'session-ended': 'A client has closed its connection.',
      'session-opened': 'A client has joined a database.',
      'token-renewed': 'A session has a new token.',
    },
  ],
];
