import { RockpoolError } from '@rockpool/shared';

/** What tabs need to find each other. Browsers hide it from pages that did not come over https (or from localhost). */
export function requireTabSupport(): void {
  const missing = [
    ...(navigator.locks === undefined ? ['Web Locks'] : []),
    ...(typeof BroadcastChannel === 'undefined' ? ['BroadcastChannel'] : []),
    ...(globalThis.isSecureContext ? [] : ['a secure context (https)']),
  ];
  if (missing.length > 0) throw new RockpoolError('storage-unsupported', { missing: missing.join(', ') });
}
