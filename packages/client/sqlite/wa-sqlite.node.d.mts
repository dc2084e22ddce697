export { default } from './wa-sqlite.mjs';
