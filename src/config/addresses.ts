import { BlockList, isIP } from 'node:net';

/** Whether a host is this machine itself. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/** A list of IP addresses and subnets, separated by commas; undefined if one of them cannot be read. */
export function addressList(text: string): BlockList | undefined {
  const list = new BlockList();
  if (text === '') return list;
  for (const entry of text.split(',').map((part) => part.trim())) {
    const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(entry) ?? [];
    if (isIP(address) === 0) return undefined;
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    try {
      if (bits === undefined) list.addAddress(address, family);
      else list.addSubnet(address, Number(bits), family);
    } catch {
      return undefined;
    }
  }
  return list;
}
