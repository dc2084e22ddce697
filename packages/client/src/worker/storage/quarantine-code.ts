// The code that is needed only if a database is damaged, in one chunk, which open-local.ts loads.
export { keepUnsentAsRejected, quarantineNotice } from './keep-unsent.ts';
export { quarantine } from './quarantine.ts';
