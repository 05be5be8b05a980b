# pingpong: latency, bandwidth, or what cutting the data into pieces costs, over sizes.
tables = 'pingpong'
load folder.'/over_sizes.gp'
