import { BlockList, isIP } from 'node:net';

/** The address of a request's sender. */
export type AddressOf = (remoteAddress: string | undefined, forwardedFor: string | undefined) => string | null;

/**
 * Returns a function that names the client of a connection. Trusts `X-Forwarded-For` only from trusted proxies, and
 * takes its last address that is not a proxy's. Null if the address is unknown or that of this machine.
 *
 * An IPv6 address counts as its /64 network, because one customer of a provider has a whole /64 network.
 */
export function clientAddresses(trustedProxies: readonly string[]): AddressOf {
  const isTrusted = trustIn(trustedProxies);
  return (remoteAddress, forwardedFor) => {
    const hops = (forwardedFor ?? '').split(',').map((hop) => hop.trim());
    let address = plain(remoteAddress ?? '');
    while (isIP(address) !== 0 && isTrusted(address)) {
      const before = plain(hops.pop() ?? '');
      if (isIP(before) === 0) return isLoopback(address) ? null : address;
      address = before;
    }
    return isIP(address) === 0 ? null : network(address);
  };
}

/**
 * Returns a function that names the client of a connection that has sent no request yet. It returns null for an unknown
 * address, an address of this machine, and the address of a trusted proxy, which connects on behalf of many clients.
 */
export function connectionAddresses(
  trustedProxies: readonly string[],
): (remoteAddress: string | undefined) => string | null {
  const isTrusted = trustIn(trustedProxies);
  return (remoteAddress) => {
    const address = plain(remoteAddress ?? '');
    return isIP(address) === 0 || isTrusted(address) ? null : network(address);
  };
}

function trustIn(trustedProxies: readonly string[]): (address: string) => boolean {
  const trusted = new BlockList();
  for (const proxy of trustedProxies) addTo(trusted, proxy);
  return (address) => isLoopback(address) || trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

/** Returns why a text is neither an address nor a network such as `10.0.0.0/8`, or null if it is one. */
export function proxyProblem(text: string): string | null {
  try {
    addTo(new BlockList(), text);
    return null;
  } catch {
    return `${text} is neither an IP address nor a network such as 10.0.0.0/8`;
  }
}

function addTo(list: BlockList, text: string): void {
  const [address = '', prefix] = text.split('/');
  const type = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  if (prefix === undefined) list.addAddress(address, type);
  else list.addSubnet(address, /^\d{1,3}$/.test(prefix) ? Number(prefix) : -1, type);
}

function isLoopback(address: string): boolean {
  return address === '::1' || address.startsWith('127.');
}

/**
 * Removes a port, which some proxies append, and the prefix of an IPv4 address that a dual-stack socket shows as IPv6.
 */
function plain(text: string): string {
  const [, v4, v6] = /^(?:(\d+\.\d+\.\d+\.\d+)|\[(.+)\]):\d+$/.exec(text) ?? [];
  const address = v4 ?? v6 ?? text;
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
}

const NETWORK_GROUPS = 4;

function network(address: string): string {
  if (isIP(address) === 4) return address;
  const [head = '', tail] = (address.split('%', 1)[0] as string).split('::');
  const groups = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - groups.length - after.length }, () => '0');
  return [...groups, ...zeros, ...after]
    .slice(0, NETWORK_GROUPS)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}
