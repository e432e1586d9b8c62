#!/usr/bin/env bash
# Generates the TypeScript wire types from the .proto files that Google's clients ship (Apache-2.0), and from our own.
#   shared/proto        what the connector sends and receives, pruned to it (no services, no comments)
#   infra/local/proto   the services that the local cloud speaks
# Run by hand when a client major moves; the result is checked in. Needs only npm.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/protos/google"
gax=node_modules/google-gax/build/protos/google
for package in api iam/v1 rpc longrunning type; do
  mkdir -p "$work/protos/google/$package"
  cp "$gax/$package"/*.proto "$work/protos/google/$package/"
done
cp -r node_modules/@google-cloud/bigtable-api/build/protos/google/bigtable "$work/protos/google/"
cp -r node_modules/@google-cloud/pubsub-api/build/protos/google/pubsub "$work/protos/google/"
mkdir -p "$work/protos/google/firestore"
cp -r node_modules/@google-cloud/firestore-api/build/protos/google/firestore/v1 "$work/protos/google/firestore/"
mkdir -p "$work/protos/connector/v1"
cp shared/proto/connector/v1/*.proto "$work/protos/connector/v1/"

options="opt: [forceLong=bigint, env=node, importSuffix=.ts, outputJsonMethods=false, outputPartialMethods=false,
  useExactTypes=false, enumsAsLiterals=true, unrecognizedEnum=false, oneof=unions-value, useOptionals=none, useDate=false,
  comments=false, esModuleInterop=true, useNullAsOptional=false"

generate() { # folder, options, types (YAML list)
  cat >"$work/gen.yaml" <<YAML
version: v2
inputs:
  - directory: $work/protos
    types: [$3]
plugins:
  - local: protoc-gen-ts_proto
    out: $1
    include_imports: true
    $options, $2]
YAML
  npm exec --yes --package=@bufbuild/buf@1.75.0 --package=ts-proto@2.18.0 -- buf generate --template "$work/gen.yaml"
  rm -rf "$1"/google/api "$1"/google/protobuf/descriptor.ts
}
printf 'version: v2\nmodules:\n  - path: protos\n' >"$work/buf.yaml"

rm -rf shared/proto/google shared/proto/connector/v1/*.ts infra/local/proto/google
v2=google.bigtable.v2
admin=google.bigtable.admin.v2
# Unknown fields of a schema are kept: a family whose type holds something that we do not know is of another type.
# Before the data plane, which writes the files that both share without them.
generate shared/proto "outputServices=none, unknownFields=true" \
  "$admin.CreateTableRequest, $admin.GetTableRequest, $admin.ModifyColumnFamiliesRequest, $admin.GetAppProfileRequest, $admin.AppProfile"
generate shared/proto "outputServices=none" \
  "$v2.MutateRowsRequest, $v2.MutateRowsResponse, $v2.FeatureFlags, $v2.CheckAndMutateRowRequest, $v2.CheckAndMutateRowResponse, $v2.ReadModifyWriteRowRequest, $v2.ReadModifyWriteRowResponse, connector.v1.RowRequest, connector.v1.RowResult"
generate infra/local/proto "outputServices=grpc-js" \
  "$v2.Bigtable, $admin.BigtableTableAdmin, $admin.BigtableInstanceAdmin, google.pubsub.v1.Publisher, google.pubsub.v1.Subscriber, google.firestore.v1.Firestore"
