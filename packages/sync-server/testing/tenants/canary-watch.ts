import { findCanaries, type CanaryForm } from './canary.ts';

/** So much of what stands around a leak is shown. */
const EXCERPT_BYTES = 80;

/** Looks at all that leaves a server, and keeps what should not have. */
export class CanaryWatch {
  readonly leaks: string[] = [];
  // By where: in which forms tenants met their own. What proves that a look there can see something.
  private readonly met = new Map<string, Set<CanaryForm>>();
  private readonly tenantBySecret = new Map<string, number>();

  /** A code or a token: whoever has it is let in. */
  keepSecret(tenant: number, text: string): void {
    this.tenantBySecret.set(text, tenant);
  }

  /** Those that are in use no more. */
  forgetSecrets(): void {
    this.tenantBySecret.clear();
  }

  /** What a tenant is sent: only their own may be in it. */
  look(where: string, sent: Buffer | string, tenant: number): void {
    const met = this.met.get(where) ?? new Set<CanaryForm>();
    this.met.set(where, met);
    this.search(where, sent, (form, owner) => {
      if (owner !== tenant) return false;
      if (form !== 'secret') met.add(form);
      return true;
    });
  }

  /** What a tenant is told of an error: ids at most, and only their own. */
  lookAtError(error: string, tenant: number): void {
    this.search('an error', error, (form, owner) => form === 'name' && owner === tenant);
  }

  /** Ids of databases and sites are facts; whose, does not matter to whoever reads a log. */
  lookAtLog(lines: string): void {
    this.search('the log', lines, (form) => form === 'name');
  }

  /** What anybody may read. */
  lookAtPublic(sent: Buffer): void {
    this.search('what is public', sent, () => false);
  }

  /** Where tenants met their own, and in which forms. */
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

/** What a program is given, as bytes that can be searched. */
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
