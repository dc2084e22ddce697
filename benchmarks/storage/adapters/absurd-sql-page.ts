// absurd-sql needs the page to start a second worker, which does its work in IndexedDB while the first one waits for
// it.
export { initBackend } from 'absurd-sql/dist/indexeddb-main-thread';
