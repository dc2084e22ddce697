import { findCanaries, type CanaryForm } from './canary.ts';

/** Bytes shown around a leak. */
const EXCERPT_BYTES = 80;

/** Searches everything that leaves a server for canaries, and records leaks. */
export class CanaryWatch {
  readonly leaks: string[] = [];
  // The forms in which tenants received their own canaries, by place. They prove that the search works in that place.
  private readonly met = new Map<string, Set<CanaryForm>>();
  private readonly tenantBySecret = new Map<string, number>();

  /** A code or a token, which grants access to its holder. */
  keepSecret(tenant: number, text: string): void {
    this.tenantBySecret.set(text, tenant);
  }

  /** Secrets that are no longer valid. */
  forgetSecrets(): void {
    this.tenantBySecret.clear();
  }

  /** Checks data sent to a tenant, which may contain only the tenant's own canaries. */
  look(where: string, sent: Buffer | string, tenant: number): void {
    const met = this.met.get(where) ?? new Set<CanaryForm>();
    this.met.set(where, met);
    this.search(where, sent, (form, owner) => {
      if (owner !== tenant) return false;
      if (form !== 'secret') met.add(form);
      return true;
    });
  }

  /** Checks an error sent to a tenant, which may contain only ids, and only the tenant's own. */
  lookAtError(error: string, tenant: number): void {
    this.search('an error', error, (form, owner) => form === 'name' && owner === tenant);
  }

  /** Checks a log line, which may contain ids of databases and sites of any tenant. */
  lookAtLog(lines: string): void {
    this.search('the log', lines, (form) => form === 'name');
  }

  /** Checks public data, which may contain no canary. */
  lookAtPublic(sent: Buffer): void {
    this.search('what is public', sent, () => false);
  }

  /** The places and forms in which tenants received their own canaries. */
  sightings(): Record<string, readonly CanaryForm[]> {
    return Object.fromEntries([...this.met].map(([where, forms]) => [where, [...forms].sort()]));
  }

  private search(
    where: string,
    sent: Buffer | string,
    mayBe: (form: CanaryForm | 'secret', owner: number) => boolean,
  ): void {
    const bytes = typeof sent === 'string' ? Buffer.from(sent, 'latin1') : sent;
    const report = (form: string, owner: number, at: number): void =>
      void this.leaks.push(
        `${form} of tenant ${owner} in ${where}: …${bytes.toString('latin1', Math.max(0, at - EXCERPT_BYTES), at + EXCERPT_BYTES).replaceAll(/[^ -~]+/g, '·')}…`,
      );
    for (const { form, tenant, at } of findCanaries(bytes)) if (!mayBe(form, tenant)) report(form, tenant, at);
    for (const [secret, tenant] of this.tenantBySecret) {
      const at = bytes.indexOf(secret);
      if (at >= 0 && !mayBe('secret', tenant)) report('a secret', tenant, at);
    }
  }
}

/** Converts a value returned to a program to bytes that can be searched. */
export function asText(given: unknown): string {
  return (
    JSON.stringify(given, (_, value: unknown) =>
      typeof value === 'bigint'
        ? String(value)
        : value instanceof Uint8Array
          ? Buffer.from(value).toString('latin1')
          : value,
    ) ?? ''
  );
}
