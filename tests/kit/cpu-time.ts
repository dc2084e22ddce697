// Declared here, because portable packages have no Node types.
const { process } = globalThis as unknown as {
  readonly process: { cpuUsage(): { readonly user: number; readonly system: number } };
};

/**
 * CPU milliseconds of this process. Unlike wall time, they do not pass while the machine is busy with something else.
 */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
