// Named here, as packages that run anywhere know nothing of Node.
const { process } = globalThis as unknown as {
  readonly process: { cpuUsage(): { readonly user: number; readonly system: number } };
};

/**
 * Milliseconds of a processor that this process has had. Unlike time, they do not pass while the machine is busy with
 * something else.
 */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
