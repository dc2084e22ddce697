// absurd-sql needs the page to start a second worker, which accesses IndexedDB while the first worker waits.
export { initBackend } from 'absurd-sql/dist/indexeddb-main-thread';
