# Memoranda as one static program in an empty image. Notes are on one volume, the state of this device on
# another, which no synchroniser copies to other machines:
#
#   docker run -i --rm -v ~/memoranda:/vault -v memoranda-state:/state --user "$(id -u):$(id -g)" \
#     ghcr.io/memoranda/memoranda
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
# The device's name, and the index, which is rebuilt if it was deleted. Any user may write here.
COPY --from=build /empty /state
ENV HOME=/state/home MEMORANDA_HOME=/vault XDG_CACHE_HOME=/state/cache XDG_STATE_HOME=/state \
    XDG_CONFIG_HOME=/vault/.home/.config
USER 1000:1000
VOLUME /vault /state
ENTRYPOINT ["/memoranda"]
CMD ["mcp"]
