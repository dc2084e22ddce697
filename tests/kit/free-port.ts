import { createServer } from 'node:net';

// The ports are below those that a system assigns, so that a server that is killed and restarted finds its port free.
const FIRST_PORT = 20_000;
const PORTS = 10_000;

// Each process begins at a different port: random numbers in a test follow from the seed, so another run of the same
// test would take the port of a server that is being restarted.
let next = process.pid * 97;

/** A free port of 127.0.0.1. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + (next++ % PORTS);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' || error.code === 'EACCES' ? resolve(false) : reject(error),
    );
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
