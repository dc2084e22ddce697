import { spawnSync } from 'node:child_process';

export interface ToolResult {
  readonly status: number | null;
  /** The content of standard output and standard error. */
  readonly output: string;
}

/** Runs a program of this machine until it ends. */
export function runTool(
  [program = '', ...args]: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): ToolResult {
  const { status, stdout, stderr } = spawnSync(program, args, {
    encoding: 'utf8',
    env: { ...process.env, ...environment },
  });
  return { status, output: `${stdout}${stderr}` };
}

/** Whether this machine lacks a program, or its plugin: the command, such as `docker compose version`, fails. */
export function isMissing(command: readonly string[]): boolean {
  return runTool(command).status !== 0;
}
