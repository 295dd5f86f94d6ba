import gossip from '@eventstore/db-client/generated/gossip_pb.js';
import type { IGossipServer } from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import features from '@eventstore/db-client/generated/serverfeatures_pb.js';
import type { IServerFeaturesServer } from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';

/** A node as the others of its cluster see it. */
export interface Member {
  readonly id: string;
  readonly isLeader: boolean;
  readonly port: number;
  readonly isAlive: boolean;
}

const METHODS = ['read', 'append', 'delete', 'tombstone', 'batchappend'];

export const gossipService = (members: readonly Member[]): IGossipServer => ({
  read: (_, callback) => callback(null, new gossip.ClusterInfo().setMembersList(members.map(memberMessage))),
});

const memberMessage = ({ id, isLeader, port, isAlive }: Member) => {
  const { LEADER, FOLLOWER } = gossip.MemberInfo.VNodeState;
  return new gossip.MemberInfo()
    .setInstanceId(new shared.UUID().setString(id))
    .setTimeStamp('0')
    .setState(isLeader ? LEADER : FOLLOWER)
    .setIsAlive(isAlive)
    .setHttpEndPoint(new gossip.EndPoint().setAddress('127.0.0.1').setPort(port));
};

export const serverFeaturesService = (version: string): IServerFeaturesServer => {
  const methods = METHODS.map((name) =>
    new features.SupportedMethod().setServiceName('event_store.client.streams.streams').setMethodName(name),
  );
  const answer = new features.SupportedMethods().setEventStoreServerVersion(version).setMethodsList(methods);
  return { getSupportedMethods: (_, callback) => callback(null, answer) };
};
