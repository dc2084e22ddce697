import { spawn } from 'node:child_process';
import { join } from 'node:path';

/** The legal actions of one tenant that burden the others. */
export const ATTACK_NAMES = ['changesets', 'viewer', 'cascade'] as const;
export type AttackName = (typeof ATTACK_NAMES)[number];

/** Begins an attack. Resolves when it is under way, with a function that ends it and returns how many steps it took. */
export async function startAttack(
  attack: AttackName,
  port: number,
  databaseId: string,
): Promise<() => Promise<number>> {
  const script = join(import.meta.dirname, 'attacker-process.ts');
  const child = spawn(process.execPath, [script, attack, String(port), databaseId], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes('ready')) resolve();
    });
    void ended.then(() => reject(new Error(`the process of the attack ${attack} ended before it was ready`)));
  });
  return async () => {
    child.kill('SIGTERM');
    await ended;
    return Number(/steps (\d+)/.exec(output)?.[1] ?? 0);
  };
}
