import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

/** For a program that must be told its port, and keeps it when it is started again. */
export const freePort = async (): Promise<number> => {
  const [port] = await freePorts(1);
  return port as number;
};

/** So many, no two the same. */
export const freePorts = async (count: number): Promise<readonly number[]> => {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
};
