import { expect, it } from 'vitest';
import { clientAddresses, connectionAddresses, proxyProblem } from './client-address.ts';

const addressOf = clientAddresses(['10.0.0.0/8', '192.0.2.7', '2001:db8:ffff::/48']);

it('the client address comes from X-Forwarded-For of trusted proxies only: the last address that is not a proxy’s', () => {
  expect(addressOf('203.0.113.9', '198.51.100.1')).toBe('203.0.113.9');
  expect(addressOf('10.1.2.3', '198.51.100.1')).toBe('198.51.100.1');
  expect(addressOf('10.1.2.3', 'forged, 198.51.100.1, 192.0.2.7')).toBe('198.51.100.1');
  expect(addressOf('::ffff:10.1.2.3', '198.51.100.1, 203.0.113.9')).toBe('203.0.113.9');
  expect(addressOf('127.0.0.1', '198.51.100.1')).toBe('198.51.100.1');
  expect(addressOf('2001:db8:ffff::1', '198.51.100.1')).toBe('198.51.100.1');
  // Some proxies append the port of the client.
  expect(addressOf('10.1.2.3', '198.51.100.1:50123')).toBe('198.51.100.1');
  expect(addressOf('10.1.2.3', '[2001:db8:0:1::1]:50123, 10.1.2.4:443')).toBe('2001:db8:0:1');
});

it('the client address is the proxy’s if the proxy names no client, and is unknown for this machine', () => {
  expect(addressOf('10.1.2.3', undefined)).toBe('10.1.2.3');
  expect(addressOf('10.1.2.3', 'noise')).toBe('10.1.2.3');
  for (const here of ['127.0.0.1', '::1', '::ffff:127.0.0.1', undefined, ''])
    expect(addressOf(here, undefined)).toBeNull();
});

it('the client address is the same for all addresses of a customer’s IPv6 network', () => {
  expect(addressOf('2001:db8:0:1::1', undefined)).toBe('2001:db8:0:1');
  expect(addressOf('2001:0db8:0000:0001:9:8:7:6', undefined)).toBe('2001:db8:0:1');
  expect(addressOf('2001:db8::7:6', undefined)).toBe('2001:db8:0:0');
});

it('a connection without a request has its own address, or none if that is a proxy’s or this machine’s', () => {
  const ofConnection = connectionAddresses(['10.0.0.0/8']);
  expect(['203.0.113.9', '::ffff:203.0.113.9', '2001:db8::1'].map(ofConnection)).toEqual([
    '203.0.113.9',
    '203.0.113.9',
    '2001:db8:0:0',
  ]);
  expect(['10.1.2.3', '127.0.0.1', undefined].map(ofConnection)).toEqual([null, null, null]);
});

it('trusted proxies must be addresses or networks', () => {
  expect(['10.0.0.0/8', '::1', '2001:db8::/32'].map(proxyProblem)).toEqual([null, null, null]);
  for (const text of ['proxy', '10.0.0.0/33', '10.0.0.0/', '1.2.3', ''])
    expect(proxyProblem(text)).toContain('neither');
});
