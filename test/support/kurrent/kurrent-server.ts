import { GossipService } from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import { ServerFeaturesService } from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import { StreamsService } from '@eventstore/db-client/generated/streams_grpc_pb.js';
import { type Metadata, Server, ServerCredentials, type ServerErrorResponse } from '@grpc/grpc-js';
import { Appends } from './appends.js';
import { CommitLog } from './commit-log.js';
import { type LiveSubscription, TOO_SLOW } from './live-subscription.js';
import { gossipService, type Member, serverFeaturesService } from './node-services.js';
import { accessDenied, notLeader, unauthenticated } from './rpc-error.js';
import { type DeniedRight, type StreamsNode, streamsService } from './streams-service.js';
import { TcpFront } from './tcp-front.js';

export interface KurrentServerOptions {
  readonly version?: string;
  /** Mixes events of the server's own into $all, as a real one does. Default: true. */
  readonly hasSystemEvents?: boolean;
  /** Drops a live subscription that has more events than this before it, as 23.10 does at 32. Default: none is dropped. */
  readonly dropSlowerThan?: number;
  /** Refuses everybody else. The client sends credentials by TLS alone. */
  readonly user?: { readonly username: string; readonly password: string };
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Makes it a node that stays where that one is now: it hands on what is appended, and sees none of it. */
  readonly followerOf?: KurrentServer;
}

/**
 * Speaks KurrentDB's protocol to the real client, and fails as a server does. Held against EventStoreDB 24.2.0 by its own
 * spec; unlike it, a repetition of an append that is still under way is told so at once and not after two seconds.
 */
export class KurrentServer {
  readonly calls: Readonly<StreamsNode['calls']>;
  private readonly front = new TcpFront(() => this.innerPort);
  private readonly server = new Server({ 'grpc.max_receive_message_length': -1 });
  private readonly log: CommitLog;
  private appends: Appends;
  /** Where this one is sent for what a leader answers. */
  private leader: KurrentServer | null;
  private readonly subscriptions = new Set<LiveSubscription>();
  private readonly denied = new Set<DeniedRight>();
  private readonly members: Member[];
  private innerPort = 0;
  private hasBeenReplaced = false;

  private constructor(private readonly options: KurrentServerOptions) {
    const {
      followerOf: leader = null,
      version = '24.2.0',
      hasSystemEvents = true,
      dropSlowerThan = Infinity,
    } = options;
    this.leader = leader;
    this.log = leader ? leader.log.copy() : new CommitLog(hasSystemEvents);
    this.appends = leader ? leader.appends : new Appends(this.log);
    this.members = leader ? leader.members : [];
    this.members.push(this.member());
    this.calls = { append: 0, batchAppend: 0, read: 0, subscribe: 0 };
    this.server.addService(ServerFeaturesService, serverFeaturesService(version));
    this.server.addService(GossipService, gossipService(this.members));
    const node: StreamsNode = {
      log: this.log,
      getAppends: () => this.appends,
      subscriptions: this.subscriptions,
      denied: this.denied,
      maxBacklog: dropSlowerThan,
      calls: this.calls,
      accessRefusal: (metadata) => this.accessRefusal(metadata),
      leaderRefusal: (metadata) => this.leaderRefusal(metadata),
      cut: (peer) => this.front.cut(peer),
      isConnected: (peer) => this.front.isOpen(peer),
    };
    this.server.addService(StreamsService, streamsService(node));
  }

  static async start(options: KurrentServerOptions = {}): Promise<KurrentServer> {
    const kurrent = new KurrentServer(options);
    await kurrent.bind();
    await kurrent.start();
    return kurrent;
  }

  get port(): number {
    return this.front.port;
  }

  /** Without `tlsCAFile`, which the client wants as a file. */
  get url(): string {
    const { user, tls } = this.options;
    const credentials = user ? `${user.username}:${user.password}@` : '';
    return `esdb://${credentials}127.0.0.1:${this.port}?tls=${tls !== undefined}`;
  }

  /** From now on, of everybody, as one whose ACL was changed. */
  deny(right: DeniedRight): void {
    this.denied.add(right);
  }

  allow(right: DeniedRight): void {
    this.denied.delete(right);
  }

  /** As by kill -9: every connection ends without an answer, and none is taken. What was written stays. */
  kill(): Promise<void> {
    return this.front.kill();
  }

  /** Again, on the same port. */
  async start(): Promise<void> {
    this.log.reopen();
    await this.front.listen();
  }

  async restart(): Promise<void> {
    await this.kill();
    await this.start();
  }

  /** As by SIGSTOP: nothing is answered, not even a ping, and new connections are taken. */
  hang(): void {
    this.front.hang();
  }

  /** What was said meanwhile is heard and answered. */
  resume(): void {
    this.front.resume();
  }

  /**
   * Of a follower: it was chosen to lead, with what its leader held when it began to follow. That one has not noticed: it
   * answers what it is asked, and commits nothing.
   */
  lead(): void {
    this.leader?.appends.loseMajority();
    if (this.leader) this.leader.hasBeenReplaced = true;
    this.leader = null;
    this.appends = new Appends(this.log);
  }

  /** The next append is written and its connection ends before the answer. Resolves when that has happened. */
  loseNextAnswer(): Promise<void> {
    return this.appends.loseNextConnection(true);
  }

  /** The same to its client, but nothing is written. */
  failNextAppendUnwritten(): Promise<void> {
    return this.appends.loseNextConnection(false);
  }

  /** Ends all that are open, as 23.10 does with one that is too slow. */
  dropSubscriptions(reason = TOO_SLOW): void {
    for (const subscription of [...this.subscriptions]) subscription.drop(reason);
  }

  /** Restarts from an older backup: what is after the position never was. */
  async rewind(position: bigint): Promise<void> {
    await this.kill();
    this.log.rewind(Number(position));
    await this.start();
  }

  /** From now on the stream is not read, as one whose first event a cluster is about to write, until `release`. */
  withhold(stream: string): void {
    this.log.unread.add(stream);
  }

  release(stream: string): void {
    this.log.unread.delete(stream);
  }

  appendSystemEvent(): void {
    this.log.appendSystemEvent();
  }

  /** From now on appends are answered some time after they took their place in the log: by default, up to 3 ms. */
  delayCommits(untilCommitted?: () => Promise<unknown>): void {
    this.appends.delay(untilCommitted);
  }

  async close(): Promise<void> {
    await this.kill();
    this.server.forceShutdown();
  }

  private bind(): Promise<void> {
    const { tls } = this.options;
    const pair = tls && { cert_chain: Buffer.from(tls.cert), private_key: Buffer.from(tls.key) };
    const credentials = pair ? ServerCredentials.createSsl(null, [pair]) : ServerCredentials.createInsecure();
    return new Promise((resolve, reject) => {
      this.server.bindAsync('127.0.0.1:0', credentials, (error, port) => {
        this.innerPort = port;
        if (error) reject(error);
        else resolve();
      });
    });
  }

  private accessRefusal(metadata: Metadata): ServerErrorResponse | null {
    const { user } = this.options;
    const [authorization] = metadata.get('authorization');
    if (!user || authorization === basic(user)) return null;
    return authorization === undefined ? accessDenied() : unauthenticated();
  }

  private leaderRefusal(metadata: Metadata): ServerErrorResponse | null {
    const { leader } = this;
    return leader && metadata.get('requires-leader')[0] === 'true' ? notLeader(leader.port) : null;
  }

  private member(): Member {
    const { front } = this;
    const isLeader = (): boolean => this.leader === null && !this.hasBeenReplaced;
    return {
      id: crypto.randomUUID(),
      get isLeader() {
        return isLeader();
      },
      get port() {
        return front.port;
      },
      get isAlive() {
        return front.isListening;
      },
    };
  }
}

const basic = ({ username, password }: { username: string; password: string }): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
