import { Module } from '@nestjs/common';
import { Clock, EventStore, FoldedStreams, Logger, PayloadStore, Randomness } from '#libs/domain/kernel';
import {
  BundleCheckpoints,
  CheckLedger,
  CheckpointJournal,
  CheckpointMaker,
  DeedEvidence,
  ExportEvidenceHandler,
  LedgerProofs,
  LedgerReader,
  LedgerTrees,
  MakeCheckpointHandler,
  ReplaceWitnessPolicyHandler,
  RetentionReach,
  SignedBundleCheckpoints,
  SealFileHandler,
  SealKeyAdministration,
  StartExportHandler,
  WitnessAsking,
  WitnessPolicies,
  WitnessStandings,
} from '#libs/domain/ledger';
import { ProjectionWaiter, ReadModels, SignedTreeReads } from '#libs/infra/read-models';
import { NamesOfPeople, PeopleDirectory } from '#libs/domain/people';
import { BuildFacts, readBuildFacts } from '#libs/infra/runtime';
import { ListAnswers } from '../lists/list-answers.js';
import { AwaitDeed } from './await-deed.js';
import { BundleAdditionsOf } from './bundle-additions.js';
import { ChangeDeeds } from './change-deeds.js';
import { CheckLedgerController } from './check-ledger.controller.js';
import { CheckpointKeysController } from './checkpoint-keys.controller.js';
import { CheckpointsController } from './checkpoints.controller.js';
import { CoseForm } from './cose-form.js';
import { DeedEvidenceController } from './deed-evidence.controller.js';
import { DeedExport } from './deed-export.js';
import { DeedProofController } from './deed-proof.controller.js';
import { ExportDeedsController } from './export-deeds.controller.js';
import { FindDeedHandler } from './find-deed.query-handler.js';
import { FindActionDeedsHandler } from './find-action-deeds.query-handler.js';
import { GetDeedController } from './get-deed.controller.js';
import { ListDeedsController } from './list-deeds.controller.js';
import { ListDeedsHandler } from './list-deeds.query-handler.js';
import { SealFileController } from './seal-file.controller.js';
import { SealKeysController } from './seal-keys.controller.js';
import { StoredDeeds } from './stored-deeds.js';
import { WitnessPolicyController } from './witness-policy.controller.js';
import { WitnessSights } from './witness-sights.js';
import { WitnessWords } from './witness-words.js';

@Module({
  controllers: [
    ListDeedsController,
    GetDeedController,
    DeedEvidenceController,
    ExportDeedsController,
    CheckLedgerController,
    SealFileController,
    SealKeysController,
    CheckpointsController,
    CheckpointKeysController,
    DeedProofController,
    WitnessPolicyController,
  ],
  providers: [
    ListAnswers,
    ListDeedsHandler,
    FindDeedHandler,
    FindActionDeedsHandler,
    { provide: LedgerReader, inject: [EventStore], useFactory: (store: EventStore) => new LedgerReader(store) },
    StoredDeeds,
    {
      provide: DeedEvidence,
      inject: [EventStore, PayloadStore, RetentionReach],
      useFactory: (store: EventStore, payloads: PayloadStore, retention: RetentionReach) =>
        new DeedEvidence(store, payloads, retention),
    },
    {
      provide: BundleCheckpoints,
      inject: [LedgerProofs, LedgerReader, CheckpointMaker, Clock, Randomness],
      useFactory: (
        proofs: LedgerProofs,
        ledger: LedgerReader,
        maker: CheckpointMaker,
        clock: Clock,
        randomness: Randomness,
      ) => new SignedBundleCheckpoints(proofs, ledger, maker, clock, randomness),
    },
    {
      provide: NamesOfPeople,
      inject: [FoldedStreams, PeopleDirectory],
      useFactory: (streams: FoldedStreams, people: PeopleDirectory) => new NamesOfPeople(streams, people),
    },
    BundleAdditionsOf,
    DeedExport,
    AwaitDeed,
    SealFileHandler,
    StartExportHandler,
    ExportEvidenceHandler,
    {
      provide: CheckLedger,
      inject: [LedgerReader, SealKeyAdministration, Clock],
      useFactory: (ledger: LedgerReader, keys: SealKeyAdministration, clock: Clock) =>
        new CheckLedger(ledger, keys, clock),
    },
    {
      provide: LedgerProofs,
      inject: [CheckpointJournal, LedgerTrees, ReadModels, ProjectionWaiter, WitnessPolicies],
      useFactory: (
        journal: CheckpointJournal,
        trees: LedgerTrees,
        rows: ReadModels,
        waiter: ProjectionWaiter,
        policies: WitnessPolicies,
      ) => new LedgerProofs(journal, trees, new SignedTreeReads(rows, waiter), policies),
    },
    {
      provide: WitnessWords,
      inject: [WitnessPolicies, WitnessAsking, CheckpointJournal, WitnessStandings, Logger],
      useFactory: (
        policies: WitnessPolicies,
        asking: WitnessAsking,
        journal: CheckpointJournal,
        standings: WitnessStandings,
        logger: Logger,
      ) => new WitnessWords({ policies, asking, journal, standings, logger }),
    },
    WitnessSights,
    MakeCheckpointHandler,
    ReplaceWitnessPolicyHandler,
    CoseForm,
    ChangeDeeds,
    { provide: BuildFacts, useFactory: () => readBuildFacts() },
  ],
  exports: [ChangeDeeds, CheckLedger],
})
export class LedgerModule {}
