# SPDX-License-Identifier: BSD-3-Clause
"""The wire itself: two processes exchange messages over one TCP connection, without MPI.
The truth that the tests on the two-host testbed hold benchmarks against.

usage: tcp_exchange.py server PORT
       tcp_exchange.py client HOST PORT BYTES REPETITIONS pingpong|both

  pingpong  the client sends a message, the server sends one back; the one-way time is half of that
  both      each sends a message while it receives the other's, as the ranks of an all-reduce do

The server serves one client after the other until it is ended. The client prints the median one-way
time in us.
"""

import socket
import statistics
import struct
import sys
import threading
import time

REQUEST = struct.Struct("!QQ?")  # bytes, repetitions, both
CONNECT_S = 10  # the server may just be starting


def receive(connection, buffer):
    left = memoryview(buffer)
    while left:
        count = connection.recv_into(left)
        if count == 0:
            raise ConnectionError("connection closed")
        left = left[count:]


def both_ways(connection, out, buffer):
    sender = threading.Thread(target=connection.sendall, args=[out])
    sender.start()
    receive(connection, buffer)
    sender.join()


def serve(connection):
    request = bytearray(REQUEST.size)
    receive(connection, request)
    size, repetitions, both = REQUEST.unpack(request)
    out, buffer = bytes(size), bytearray(size)
    for _ in range(repetitions):
        if both:
            both_ways(connection, out, buffer)
        else:
            receive(connection, buffer)
            connection.sendall(out)


def connect(host, port):
    give_up_s = time.monotonic() + CONNECT_S
    while True:
        try:
            return socket.create_connection((host, port))
        except ConnectionRefusedError:
            if time.monotonic() > give_up_s:
                raise
            time.sleep(0.02)


def exchange_us(connection, size, repetitions, both):
    # TCP's window starts small and the filter's bucket full; neither is part of what an exchange
    # costs in the long run.
    warmup = 5 + repetitions // 10
    connection.sendall(REQUEST.pack(size, warmup + repetitions, both))
    out, buffer = bytes(size), bytearray(size)
    times_us = []
    for _ in range(warmup + repetitions):
        start_s = time.perf_counter()
        if both:
            both_ways(connection, out, buffer)
        else:
            connection.sendall(out)
            receive(connection, buffer)
        times_us.append((time.perf_counter() - start_s) * 1e6 / (1 if both else 2))
    return statistics.median(times_us[warmup:])


def main():
    if sys.argv[1] == "server":
        with socket.create_server(("", int(sys.argv[2]))) as listener:
            while True:
                with listener.accept()[0] as connection:
                    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    serve(connection)
    host, port, size, repetitions, pattern = sys.argv[2:]
    with connect(host, int(port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        print(exchange_us(connection, int(size), int(repetitions), pattern == "both"))


if __name__ == "__main__":
    main()
