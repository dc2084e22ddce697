/**
 * Runs the demo after a build: `node server/serve.ts`.
 * - `PORT`: default 4400
 * - `HOST`: the address to listen on, default 127.0.0.1. Browsers keep databases only for pages on localhost or under
 *   https, so for other machines put a proxy with a certificate in front.
 * - `ROCKPOOL_DATA`: the data folder, default `.rockpool/demo` in the repository
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { startDemoServer } from './demo-server.ts';

const distFolder = fileURLToPath(new URL('../dist', import.meta.url));
const dataFolder = process.env['ROCKPOOL_DATA'] ?? fileURLToPath(new URL('../../../.rockpool/demo', import.meta.url));
const host = process.env['HOST'] ?? '127.0.0.1';
const port = Number(process.env['PORT'] ?? 4400);

async function main(): Promise<void> {
  if (!Number.isInteger(port) || port < 0 || port > 65_535) return giveUp(`PORT must be an integer from 0 to 65535.`);
  if (!existsSync(distFolder))
    return giveUp('The app is not built. Run its build, or `npm run demo` in the repository.');
  // Installed before anything is opened, so that a signal during startup is not lost. A terminal may send the signal
  // more than once.
  const stopped = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => resolve());
  });
  const server = await startDemoServer({ distFolder, dataFolder, host, port });
  console.log(`Rockpool demo: http://localhost:${server.port}`);
  await stopped;
  await server.stop();
}

function giveUp(why: string): void {
  console.error(why);
  process.exitCode = 1;
}

main().catch((error: unknown) => {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE') giveUp(`Port ${port} is in use. Set PORT to another port.`);
  else if (code === 'database-unavailable') giveUp(`Another server uses the data folder ${dataFolder}.`);
  else giveUp(error instanceof Error ? error.message : String(error));
});
