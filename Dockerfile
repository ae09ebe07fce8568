# Memoranda as one static program in an empty image. Notes are on a volume:
#
#   docker run -i --rm -v ~/memoranda:/vault --user "$(id -u):$(id -g)" ghcr.io/memoranda/memoranda
#
FROM rust:1.95-alpine AS build
RUN apk add --no-cache musl-dev
WORKDIR /src
COPY . .
RUN cargo build --locked --release --package memoranda --features postgres && mkdir /vault /empty && chmod 1777 /empty

FROM scratch
LABEL io.modelcontextprotocol.server.name="io.github.memoranda/memoranda" \
      org.opencontainers.image.title="Memoranda" \
      org.opencontainers.image.description="One memory for all of your agents, in a folder of Markdown that you own" \
      org.opencontainers.image.source="https://github.com/memoranda/memoranda" \
      org.opencontainers.image.licenses="MIT OR Apache-2.0"
COPY --from=build /src/target/release/memoranda /memoranda
COPY --from=build --chown=1000:1000 /vault /vault
# `memoranda doctor` builds a second index in a temporary folder.
COPY --from=build /empty /tmp
# Everything is on the volume, also the index, which is rebuilt if it was deleted.
ENV HOME=/vault/.home MEMORANDA_HOME=/vault XDG_CACHE_HOME=/vault/.memoranda/cache \
    XDG_STATE_HOME=/vault/.memoranda/state
USER 1000:1000
VOLUME /vault
ENTRYPOINT ["/memoranda"]
CMD ["mcp"]
