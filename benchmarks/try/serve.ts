// `npm run bench:page`: builds and serves a page that runs the workloads in any user's browser. `PORT` sets the port;
// default 5180.
import { join } from 'node:path';
import { installPeers } from '../harness/peers.ts';
import { buildPages, servePages } from '../harness/pages.ts';

const folder = import.meta.dirname;
await installPeers(folder);
await buildPages(folder, 'try', {
  '@sqlite.org/sqlite-wasm': join(folder, 'node_modules/@sqlite.org/sqlite-wasm'),
});
const { urlOf } = await servePages('try', Number(process.env['PORT'] ?? 5180));
console.log(`Open ${urlOf('')} in the browser that you want to measure.`);
